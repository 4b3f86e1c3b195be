module github.com/edgewise-ml/edgewise/mpi

go 1.26.0

require github.com/ebitengine/purego v0.11.3

require github.com/edgewise-ml/edgewise v0.0.0

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/edgewise-ml/edgewise => ../
