package pickle

import (
	"reflect"
	"strings"
	"testing"
)

// torchTensor is the pickle of a 2×3 tensor, transposed, of a storage of 7 floats.
const torchTensor = "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x07tQK\x01K\x02K\x03\x86K\x01K\x02\x86\x89ccollections\nOrderedDict\n)RtR"

// A state dict is a dictionary of tensors, with a _metadata that is not read.
func TestDecodeTorch(t *testing.T) {
	b := pickled("ccollections\nOrderedDict\n)R(U\x01w" + torchTensor + "U\x01p" +
		"ctorch._utils\n_rebuild_parameter\n(" + torchTensor + "\x88}tRu}U\x09_metadata}sb")
	v, err := DecodeTorch(b)
	if err != nil {
		t.Fatal(err)
	}
	want := &Tensor{Storage: &Storage{Type: "Float", Key: "0", Len: 7}, Offset: 1, Shape: []int64{2, 3}, Strides: []int64{1, 2}}
	for _, name := range []string{"w", "p"} {
		if got := v.(*Dict).Get(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), "OrderedDict") {
		t.Errorf("a pickle that is not PyTorch's may use its names: %v", err)
	}
}

func TestDecodeTorchRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"cposix\nsystem\nU\x02ls\x85R":                                      `asks for "system" of "posix", which is not data`,
		"c__builtin__\neval\nU\x011\x85R":                                   `asks for "eval" of "__builtin__"`,
		"c__main__\nGAT\n)\x81":                                             "torch.save(model.state_dict(), path)",
		"ctorch\nload\n)R":                                                  `asks for "load" of "torch"`,
		"ctorch._utils\n_rebuild_sparse_tensor\n)R":                         "x.to_dense()",
		"ctorch._utils\n_rebuild_tensor_v2\n)R":                             "arguments it does not take",
		strings.TrimSuffix(torchTensor, "tR") + "}U\x03neg\x88stR":          "save x.resolve_neg()",
		"ctorch._utils\n_rebuild_tensor_v2\n(NK\x01))\x89NtR":               "is not made of (storage, offset, shape, strides)",
		strings.Replace(torchTensor, "K\x02\x86\x89", "K\xff\x85\x89", 1):   "is not made of",
		strings.Replace(torchTensor, "K\x02K\x03", "J\xff\xff\xff\xffN", 1): "not made of lengths",
		strings.Replace(torchTensor, "storage", "garbage", 1):               "a storage is not",
		strings.Replace(torchTensor, "FloatSto", "LoudySto", 1):             `asks for "LoudyStorage"`,
		strings.Replace(torchTensor, "K\x07tQ", "K\x07K\x07tQ", 1):          "not one of PyTorch's storages",
		strings.Replace(torchTensor, "FloatSto", "ComplexFloatSto", 1):      `asks for "ComplexFloatStorage" of "torch": a tensor of a type that is not read`,
		"ctorch._utils\n_rebuild_tensor_v3\n":                               "a tensor of a type that is not read",
		"ctorch\nfloat8_e4m3fn\n":                                           "save x.float()",
		"ctorch\nSize\nN\x85R":                                              "arguments it does not take",
		"](K\x01e}b":                                                        "takes no state",
		"}Nb":                                                               "a dictionary takes no state",
	} {
		if v, err := DecodeTorch(pickled(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, %v, want an error about %q", body, v, err, want)
		}
	}
}
