#!/bin/sh
# usage: build.sh COMPILER PREFIX FOLDER VERSION
# Builds with the flags that pkg-config prints for what is installed in PREFIX, and with no others. Uses a copy in
# another place, so that a path that was fixed when it was configured shows.
set -eu
compiler=$1 folder=$3 version=$4
prefix=$folder/moved
rm -rf "$prefix"
mkdir -p "$folder"
cp -R "$2" "$prefix"
from_pc=$prefix/lib/pkgconfig/../..
export PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig"
unset PKG_CONFIG_PATH || true
sources=$(dirname "$0")/..

expect() { # WHAT ACTUAL EXPECTED
    # pkg-config ends its lines with a blank
    if [ "$(echo $2)" != "$3" ]; then
        echo "$1: '$2', not '$3'" >&2
        exit 1
    fi
}
expect "cflags of horae-wheel" "$(pkg-config --cflags horae-wheel)" "-I$from_pc/include"
expect "libs of horae-wheel" "$(pkg-config --libs horae-wheel)" ""
expect "cflags of horae" "$(pkg-config --cflags horae)" "-I$from_pc/include -pthread"
expect "version of horae" "$(pkg-config --modversion horae)" "$version"
expect "version of horae-wheel" "$(pkg-config --modversion horae-wheel)" "$version"

for name in wheel horae; do
    package=horae
    [ $name = horae ] || package=horae-wheel
    # shellcheck disable=SC2046 # the flags are words
    "$compiler" -std=c++20 "$sources/use_$name.cpp" $(pkg-config --cflags --libs $package) -o "$folder/use_$name"
    LD_LIBRARY_PATH="$prefix/lib" "$folder/use_$name"
done
