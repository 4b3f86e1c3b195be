package main

import (
	"os"

	"github.com/edgewise-ml/edgewise/internal/gatbench"
)

func main() { os.Exit(gatbench.Main()) }
