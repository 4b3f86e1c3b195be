module github.com/edgewise-ml/edgewise

go 1.26

require gonum.org/v1/gonum v0.17.0

require golang.org/x/sys v0.38.0
