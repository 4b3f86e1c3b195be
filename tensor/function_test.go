package tensor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Every function has the number of its kernel.
func TestNamed(t *testing.T) {
	for i, name := range vec.UnaryNames() {
		f, err := tensor.Named[tensor.Unary](name)
		if err != nil || int(f) != i || f.String() != name || vec.Unary(f).String() != name {
			t.Errorf("%s is %v, %v", name, f, err)
		}
	}
	for i, name := range vec.BinaryNames() {
		f, err := tensor.Named[tensor.Binary](name)
		if err != nil || int(f) != i || f.String() != name || vec.Binary(f).String() != name {
			t.Errorf("%s is %v, %v", name, f, err)
		}
	}
	if exp, _ := tensor.Named[tensor.Unary]("Exp"); vec.Unary(exp) != vec.Exp {
		t.Errorf("Exp is %v", exp)
	}
	if sub, _ := tensor.Named[tensor.Binary]("Sub"); vec.Binary(sub) != vec.Sub {
		t.Errorf("Sub is %v", sub)
	}
	_, err := tensor.Named[tensor.Unary]("relu")
	if err == nil || !strings.Contains(err.Error(), `no function of one element is called "relu"; there are Scale, Shift, `) {
		t.Errorf("relu: %v", err)
	}
	_, err = tensor.Named[tensor.Binary]("Exp")
	if err == nil || !strings.Contains(err.Error(), `no function of two elements is called "Exp"; there are Add, Sub, Mul, Div, Min, Max`) {
		t.Errorf("Exp of two: %v", err)
	}
}

func ExampleNamed() {
	relu, err := tensor.Named[tensor.Unary]("ReLU")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.Of([]tensor.Float{-1, 0, 2}, 3)
	tensor.Apply(x, x, relu, 0)
	fmt.Println(x)
	// Output: Dense[3][0 0 2]
}

func ExampleMask() {
	mask := tensor.NewMask(1, 1, 1, 0.5)
	x, y := tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4), tensor.New(2, 4)
	tensor.Dropout(y, x, &mask)
	for i := range y.Rows() {
		for j, v := range y.Row(i) {
			if mask.Keeps(i, j) != (v == 2*x.Row(i)[j]) {
				fmt.Println("element", i, j, "is", v)
			}
		}
	}
	fmt.Println("kept elements are multiplied by", mask.Scale)
	// Output: kept elements are multiplied by 2
}
