module horae/bench/exec

go 1.21
