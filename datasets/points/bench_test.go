package points_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/points"
)

func BenchmarkTour10(b *testing.B) {
	x := points.Task{Count: 1, Min: 10}.Salesman().X
	for b.Loop() {
		if _, err := points.Tour(x); err != nil {
			b.Fatal(err)
		}
	}
}
