module github.com/edgewise-ml/edgewise

go 1.26

require gonum.org/v1/gonum v0.17.0

require github.com/klauspost/compress v1.20.0
