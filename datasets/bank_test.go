package datasets

import (
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// tableOf returns the hash of a table, and how often its last column says yes, no and nothing.
func tableOf(t *testing.T, rows [][]string) (hash string, yes, no, unknown int) {
	t.Helper()
	h := sha256.New()
	if err := csv.NewWriter(h).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		switch r[len(r)-1] {
		case "yes":
			yes++
		case "no":
			no++
		case "":
			unknown++
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), yes, no, unknown
}

// The tables of a seed are the same on every processor: published figures are of these.
func TestBankTables(t *testing.T) {
	for _, want := range []struct {
		bank                Bank
		customers, payments string
	}{
		{Bank{Customers: 400, Payments: 6000}, "09974f2ca47a3751", "acd338b5c70ed503"},
		{Bank{Customers: 400, Payments: 6000, Seed: 1}, "09a1f4429722fd6a", "bbf05b23e0f73dfc"},
	} {
		b, err := want.bank.Draw()
		if err != nil {
			t.Fatal(err)
		}
		customers, yes, no, unknown := tableOf(t, b.Customers)
		if customers != want.customers || yes+no+unknown != 400 || unknown == 0 || yes < 4 || yes > 30 {
			t.Errorf("seed %d: customers %s, %d yes, %d no, %d unknown", want.bank.Seed, customers, yes, no, unknown)
		}
		payments, yes, no, unknown := tableOf(t, b.Payments)
		if payments != want.payments || yes+no+unknown != 6000 || unknown == 0 || yes < 150 || yes > 270 {
			t.Errorf("seed %d: payments %s, %d yes, %d no, %d unknown", want.bank.Seed, payments, yes, no, unknown)
		}
		for _, p := range [][]float64{b.Default, b.Fraud} {
			mean := 0.0
			for _, x := range p {
				mean += x / float64(len(p))
			}
			if mean < 0.0349 || mean > 0.0351 {
				t.Errorf("seed %d: %.5f of the rows are expected to be positive", want.bank.Seed, mean)
			}
		}
	}
}

// What is in the tables: gaps, a heavy tail, and payments in the order of their times.
func TestBankColumns(t *testing.T) {
	b, err := Bank{Customers: 1000, Payments: 9000, Seed: 2}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	gaps, words := map[string]int{}, map[string]map[string]bool{}
	for c, name := range b.Customers[0] {
		words[name] = map[string]bool{}
		for _, r := range b.Customers[1:] {
			if words[name][r[c]] = true; r[c] == "" {
				gaps[name]++
			}
		}
	}
	if gaps["age"] < 40 || gaps["age"] > 110 || gaps["income"] < 60 || gaps["income"] > 200 || gaps["note"] < 400 || gaps["joined"] > 0 {
		t.Errorf("gaps %v", gaps)
	}
	if len(words["town"]) != len(bankTowns) || len(words["occupation"]) < 100 || len(words["email"]) != 1000 {
		t.Errorf("%d towns, %d occupations, %d addresses", len(words["town"]), len(words["occupation"]), len(words["email"]))
	}
	var amounts []float64
	before := ""
	for i, r := range b.Payments[1:] {
		x, err := strconv.ParseFloat(r[2], 64)
		if err != nil || x <= 0 || r[0] == r[1] || r[3] < before {
			t.Fatalf("payment %d is %q, after one at %s", i, r, before)
		}
		before = r[3]
		amounts = append(amounts, x)
	}
	if slices.Sort(amounts); amounts[len(amounts)-1] < 20*amounts[len(amounts)/2] {
		t.Errorf("the largest payment is %.2f and the median %.2f", amounts[len(amounts)-1], amounts[len(amounts)/2])
	}
}

func TestBankSizes(t *testing.T) {
	for _, b := range []Bank{{Customers: -1}, {Customers: 100}, {Payments: 300}, {Payments: 1 << 25}} {
		if _, err := b.Draw(); err == nil {
			t.Errorf("%+v: no error", b)
		}
	}
}
