module github.com/edgewise-ml/edgewise

go 1.26
