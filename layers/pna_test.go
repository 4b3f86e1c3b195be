package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// statistic is an aggregator of some numbers.
func statistic(a layers.Aggregator, z []float64) float64 {
	total, least, most, square := 0.0, math.Inf(1), math.Inf(-1), 0.0
	for _, x := range z {
		total, least, most = total+x, min(least, x), max(most, x)
	}
	mean := total / float64(len(z))
	for _, x := range z {
		square += (x - mean) * (x - mean) / float64(len(z))
	}
	return map[layers.Aggregator]float64{"mean": mean, "sum": total, "max": most, "min": least, "std": math.Sqrt(square), "var": square}[a]
}

func pnaOracle(l *layers.PNAConv, g *graph.Graph, m *model) matrix {
	x, own, w, f := values(m.Src), m.own(), m.weights(g), l.In
	aggregators, scalers := l.Aggregators, l.Scalers
	if aggregators == nil {
		aggregators = []layers.Aggregator{"mean", "max", "min", "std"}
	}
	if scalers == nil {
		scalers = []layers.Scaler{"identity", "amplification", "attenuation"}
	}
	if l.Divide {
		f /= l.Towers
	}
	y := make(matrix, g.NumDst())
	for v := range y {
		for i := range max(1, l.Towers) {
			lo := 0
			if l.Divide {
				lo = i * f
			}
			var heard matrix // the messages
			for _, e := range into(g, v) {
				row := append(append([]float64{}, own[v][lo:lo+f]...), x[g.In().Cols[e]][lo:lo+f]...)
				if m.Edge != nil {
					edge := values(m.Edge)[e : e+1]
					if l.Encoder != nil {
						edge = affine(edge, l.Encoder.W, l.Encoder.B)
					}
					row = append(row, edge[0]...)
				}
				heard = append(heard, times(w[e], network(l.Pre[i], matrix{row})[0]))
			}
			d := math.Max(1, float64(len(heard)))
			row := append([]float64{}, own[v][lo:lo+f]...)
			for _, s := range scalers {
				scale := map[layers.Scaler]float64{"identity": 1, "amplification": math.Log(d+1) / l.Delta, "attenuation": l.Delta / math.Log(d+1),
					"linear": d / l.MeanDegree, "inverse_linear": l.MeanDegree / d}[s]
				for _, a := range aggregators {
					for j := range f {
						var z []float64
						for _, h := range heard {
							z = append(z, h[j])
						}
						if z == nil {
							row = append(row, 0)
						} else {
							row = append(row, scale*statistic(a, z))
						}
					}
				}
			}
			y[v] = append(y[v], network(l.Post[i], matrix{row})[0]...)
		}
	}
	y = affine(y, l.Mix.W, l.Mix.B)
	for v, row := range y {
		for j := range row {
			if l.Slope != 0 && row[j] < 0 {
				row[j] *= l.Slope
			}
			if l.Residual {
				row[j] += own[v][j]
			}
		}
	}
	return activated(y, nil, l.Activation)
}

// strings of a constructor's argument.
func texts[T ~string](s *scene, name string) (all []T) {
	for _, v := range s.Config[name].([]any) {
		all = append(all, T(v.(string)))
	}
	return all
}

// DGL's messages read the source first, and a tower's rows are normalised twice.
func TestPNAConvDGL(t *testing.T) {
	cases(t, "dgl/pnaconv_*.json", 3, func(t *testing.T, s *scene) {
		l := &layers.PNAConv{In: number(s, "in_size"), Out: number(s, "out_size"), Towers: number(s, "num_towers"), Divide: true, EdgeIn: number(s, "edge_feat_size"),
			Aggregators: texts[layers.Aggregator](s, "aggregators"), Scalers: texts[layers.Scaler](s, "scalers"), Delta: config(s.Case, "delta", 0.0),
			BatchNorm: true, Slope: 0.01}
		l.Residual = l.In == l.Out
		l.Init(rand.New(rand.NewPCG(1, 1)))
		names := map[string]*grad.Param{"mixing_layer.0.weight": l.Mix.W, "mixing_layer.0.bias": l.Mix.B}
		for i := range l.Post {
			tower := fmt.Sprintf("towers.%d.", i)
			pre, post, norm := l.Pre[i].Layers[0], l.Post[i].Layers[0], l.Norms[i]
			s.join(t, tower+"M", []string{tower + "M.weight"}, func(v []*tensor.Dense) *tensor.Dense { return swapped(v[0], l.In/max(1, l.Towers)) })
			names[tower+"M"], names[tower+"M.bias"], names[tower+"U.weight"], names[tower+"U.bias"] = pre.W, pre.B, post.W, post.B
			names[tower+"batchnorm.weight"], names[tower+"batchnorm.bias"] = norm.Gain, norm.B
			names[tower+"batchnorm.running_mean"], names[tower+"batchnorm.running_var"] = norm.Mean, norm.Variance
			norm.Fixed = config(s.Case, "mode", "train") == "eval"
		}
		s.run(t, l, names)
	})
}

// swapped exchanges the first n rows with the next n.
func swapped(v *tensor.Dense, n int) *tensor.Dense {
	y := tensor.New(v.Shape()...)
	for i := range v.Rows() {
		from := i
		if i < 2*n {
			from = (i + n) % (2 * n)
		}
		copy(y.Row(i), v.Row(from))
	}
	return y
}

// Delta and the mean degree are those that PyG works out from a histogram.
func TestPNAConvPyG(t *testing.T) {
	cases(t, "pyg/pnaconv*.json", 3, func(t *testing.T, s *scene) {
		l := &layers.PNAConv{In: number(s, "in_channels"), Out: number(s, "out_channels"), Towers: number(s, "towers"), Divide: config(s.Case, "divide_input", false),
			EdgeIn: number(s, "edge_dim"), EncodeEdges: number(s, "edge_dim") > 0, PreLayers: number(s, "pre_layers"), PostLayers: number(s, "post_layers"),
			Aggregators: texts[layers.Aggregator](s, "aggregators"), Scalers: texts[layers.Scaler](s, "scalers")}
		l.Measure(s.g)
		for name, got := range map[string]float64{"aggr_module.avg_deg_log": l.Delta, "aggr_module.avg_deg_lin": l.MeanDegree} {
			if want := s.Params[name].Data[0]; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
			s.drop(name)
		}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		names := map[string]*grad.Param{"lin.weight": l.Mix.W, "lin.bias": l.Mix.B}
		if l.Encoder != nil {
			names["edge_encoder.weight"], names["edge_encoder.bias"] = l.Encoder.W, l.Encoder.B
		}
		for i := range l.Post {
			for name, net := range map[string]*layers.MLP{"pre": l.Pre[i], "post": l.Post[i]} {
				for k, layer := range net.Layers { // a ReLU stands between two
					names[fmt.Sprintf("%s_nns.%d.%d.weight", name, i, 2*k)], names[fmt.Sprintf("%s_nns.%d.%d.bias", name, i, 2*k)] = layer.W, layer.B
				}
			}
		}
		s.run(t, l, names)
	})
}

// A layer that was not measured says so.
func TestPNAMisuse(t *testing.T) {
	x := grad.Const(tensor.New(8, 4))
	for want, l := range map[string]*layers.PNAConv{
		"wants Delta; call Measure":     {In: 4, Out: 2},
		"wants MeanDegree":              {In: 4, Out: 2, Scalers: []layers.Scaler{layers.ScaleLinear}},
		"no scaler called logarithm":    {In: 4, Out: 2, Scalers: []layers.Scaler{"logarithm"}},
		"no aggregator called lstm":     {In: 4, Out: 2, Delta: 1, Aggregators: []layers.Aggregator{layers.AggregateLSTM}},
		"cannot be cut into 3 Towers":   {In: 4, Out: 2, Delta: 1, Towers: 3},
		"Residual wants In = Out":       {In: 4, Out: 2, Delta: 1, Residual: true},
		"it has no aggregator called m": {In: 4, Out: 2, Delta: 1, Aggregators: []layers.Aggregator{"median"}},
	} {
		err := misused(func() {
			l.Init(rand.New(rand.NewPCG(1, 1)))
			l.Apply(nil, odd(), layers.In{Src: x})
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a TapeError about %q", err, want)
		}
	}
}
