"""What a result was measured on: machine, compilers, flags, commit."""
import datetime
import os
import pathlib
import platform
import re
import subprocess


def output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""


def cpu_model() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match.group(1) if match else platform.machine()


def cache_sizes() -> str:
    found = re.findall(r"^L(\d[di]?) cache:\s+(.+)$", output_of("lscpu"), re.MULTILINE)
    return ", ".join(f"L{level} {size}" for level, size in found)


def facts() -> dict:
    memory_kib = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": output_of("git", "describe", "--always", "--dirty"),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "caches": cache_sizes(),
            "memory_gib": round(memory_kib / 2**20, 1),
            "kernel": f"{platform.system()} {platform.release()}",
        },
    }


def cmake_build(build: pathlib.Path) -> dict:
    """Compiler and flags out of a build's cache."""
    cache = dict(re.findall(r"^([A-Z_]+):[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE))
    kind = cache.get("CMAKE_BUILD_TYPE", "")
    flags = f"{cache.get('CMAKE_CXX_FLAGS', '')} {cache.get(f'CMAKE_CXX_FLAGS_{kind.upper()}', '')}".strip()
    return {"compiler": first_line(output_of(cache.get("CMAKE_CXX_COMPILER", "c++"), "--version")), "flags": flags}
