module github.com/edgewise-ml/edgewise

go 1.26.0

require gonum.org/v1/gonum v0.17.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/klauspost/compress v1.20.0
	golang.org/x/term v0.47.0
)

require golang.org/x/sys v0.49.0

require (
	golang.org/x/image v0.47.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/text v0.43.0 // indirect
