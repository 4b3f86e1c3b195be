package asm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	avo "github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// Avo gives a kernel any of 32 vector registers. The upper 16 are of AVX-512: an
// instruction that names one is encoded in a way that other processors do not know,
// though its mnemonic is of AVX. So registers are allocated here, of those that a
// kernel's own instructions imply, and a kernel that needs more is refused.

const vectors = 16 // registers without AVX-512

// known is what the kernels whose names do not end in 512 may need. What the packages
// ask of a processor before they call them implies the rest.
var known = []string{"CMOV", "MMX+", "POPCNT", "SSE", "SSE2", "AVX", "AVX2", "FMA3"}

// Compile is pass.Compile of avo with allocate, and with needs and point at its end.
var Compile = avo.Concat(
	avo.Verify,
	avo.FunctionPass(checkFields),
	avo.FunctionPass(avo.PruneJumpToFollowingLabel),
	avo.FunctionPass(avo.PruneDanglingLabels),
	avo.FunctionPass(avo.LabelTarget),
	avo.FunctionPass(avo.CFG),
	avo.InstructionPass(avo.ZeroExtend32BitOutputs),
	avo.FunctionPass(avo.Liveness),
	avo.FunctionPass(allocate),
	avo.FunctionPass(avo.BindRegisters),
	avo.FunctionPass(avo.VerifyAllocation),
	avo.FunctionPass(avo.EnsureBasePointerCalleeSaved),
	avo.Func(avo.IncludeTextFlagHeader),
	avo.FunctionPass(avo.PruneSelfMoves),
	avo.FunctionPass(avo.RequiredISAExtensions),
	avo.FunctionPass(needs),
	avo.FunctionPass(point),
)

// is512 reports whether a kernel is for AVX-512.
func is512(f *ir.Function) bool { return strings.HasSuffix(f.Name, "512") }

// allocate gives every virtual register of a kernel a physical one.
func allocate(f *ir.Function) error {
	allocators := map[reg.Kind]*avo.Allocator{}
	for _, i := range f.Instructions() {
		for _, r := range i.Registers() {
			k := r.Kind()
			if allocators[k] == nil {
				a, err := avo.NewAllocator(registers(f, k))
				if err != nil {
					return err
				}
				if k == reg.KindGP { // the caller's, so that it costs saving it
					a.SetPriority(reg.RBP.ID(), -1)
				}
				allocators[k] = a
			}
			allocators[k].Add(r.ID())
		}
	}
	for _, i := range f.Instructions() {
		for _, d := range i.OutputRegisters() {
			others := i.LiveOut.OfKind(d.Kind())
			others.DiscardRegister(d)
			allocators[d.Kind()].AddInterferenceSet(d, others)
		}
	}
	f.Allocation = reg.NewEmptyAllocation()
	for _, a := range allocators {
		chosen, err := a.Allocate()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := f.Allocation.Merge(chosen); err != nil {
			return err
		}
	}
	return nil
}

// registers are those of a kind that a kernel may have.
func registers(f *ir.Function, k reg.Kind) []reg.Physical {
	all := reg.FamilyOfKind(k).Registers()
	if k != reg.KindVector || is512(f) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r reg.Physical) bool { return r.PhysicalIndex() >= vectors })
}

// needs refuses a kernel that needs more of a processor than its name says.
func needs(f *ir.Function) error {
	if is512(f) {
		return nil
	}
	for _, isa := range f.ISA {
		if !slices.Contains(known, isa) {
			return fmt.Errorf("%s needs %s, and its name does not end in 512", f.Name, isa)
		}
	}
	for _, i := range f.Instructions() {
		for _, r := range i.Registers() {
			if p := reg.ToPhysical(r); p.Kind() == reg.KindVector && p.PhysicalIndex() >= vectors {
				return fmt.Errorf("%s: %s has register %s of AVX-512", f.Name, i.Opcode, p.Asm())
			}
		}
	}
	return nil
}
