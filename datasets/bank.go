package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bank draws a bank: customers, some of whom will not pay back what they owe, and the payments between them, some of
// which are frauds. Both are tables as a bank would export them, with gaps, heavy tails, dates, words, texts and an address
// that says nothing; a few answers are not known. [Bank.Draw] says how the answers come about. Parts of
// what they depend on are in a row's own columns, parts in those of its neighbours, and parts in none.
type Bank struct {
	Customers, Payments int    // 0: 4,000 and 60,000
	Seed                uint64 // of everything that is drawn
}

// BankTables are the tables of a [Bank], whose first rows name the columns, and the probabilities from which the
// answers were drawn. Nothing that is learnt from the tables can be expected to rank rows better than these do.
type BankTables struct {
	Customers, Payments [][]string
	Default             []float64 // of each customer: the probability of "yes" in the column defaulted
	Fraud               []float64 // of each payment: the probability of "yes" in the column fraud
}

// bankPositive is the share of customers that default, and of payments that are frauds.
const bankPositive = 0.035

// bankDay is the first day of the year of payments.
var bankDay = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

// What tables say in words. The first towns and trades have the most customers.
var (
	bankTowns  = []string{"Turku", "Bergen", "Uppsala", "Aarhus", "Tartu", "Odense", "Lund", "Visby", "Narva"}
	bankTrades = strings.Fields("teacher nurse clerk driver cook carpenter engineer farmer electrician cleaner programmer accountant shopkeeper plumber " +
		"painter student pensioner waiter mechanic lawyer doctor landlord guard baker librarian musician journalist translator fisher gardener tailor " +
		"pharmacist dentist architect chemist barber")
	bankRanks   = []string{"", "senior ", "assistant ", "self-employed "}
	bankCalm    = []string{"asked about a mortgage", "moved to a new flat", "opened a savings account", "wants letters by post", "ordered a second card", "thanked us for the advice", "asked for the opening hours"}
	bankWorried = []string{"asked for a higher overdraft", "called about a late rent", "asked to delay an instalment", "lost the job in spring", "paid the invoice late", "asked about a small loan until payday", "disputes the reminder fee"}
	bankPlain   = []string{"dinner", "thanks", "gift", "tickets", "groceries", "lessons", "repair", "birthday", "petrol", "flowers"}
	bankBait    = []string{"urgent invoice", "deposit for flat", "release of prize", "account check", "crypto order"}
)

// bankCustomer is what is true of a customer, in tables or not.
type bankCustomer struct {
	age, tenure    float64 // years; tenure is for how long they have been a customer
	income         float64
	town, circle   int
	trade, rank    int
	online         bool
	stress         float64 // no column; notes are written about it
	own            float64 // what their own columns and the stress say about the risk, standardised
	activity       float64 // how often they pay
	popularity     float64 // how often they are paid
	ring           int     // of fraudsters; −1: none
	regular        []int   // who they pay again and again
	regularAmounts []float64
}

// bankRing is some customers who pass money on to each other, and when they do.
type bankRing struct {
	members    []int
	begin, end float64 // days
}

// bankPayment is what is true of a payment.
type bankPayment struct {
	from, to int
	day      float64
	amount   float64
	channel  string
	text     string
	regular  bool
}

// bank is a bank that is being drawn.
type bank struct {
	Bank
	rng       *rand.Rand
	customers []bankCustomer
	rings     []bankRing
	inRing    []int // customers
	payments  []bankPayment
}

// Draw draws the tables.
//
// Whether a customer defaults is drawn with a probability whose logit adds up: their own risk (an income that is low for
// the town, a low or high age, being both young and new, the trade, being self-employed, and a stress that no column has but
// notes are written about), the mean risk of those whom they pay or are paid by, to which half the mean of those one step
// further is added, being in a ring of fraudsters, and chance. Whether a payment is a fraud depends on whether its ends are in
// a ring that is active on that day, on an amount that is unusual for the payer, the hour, the channel, whether the
// payer has paid the recipient before, and chance.
//
// The tables are a function of b alone. The error names a number that cannot be.
func (b Bank) Draw() (*BankTables, error) {
	const most = 1 << 24
	b.Customers, b.Payments = cmp.Or(b.Customers, 4000), cmp.Or(b.Payments, 60000)
	if b.Customers < 200 || b.Customers > most || b.Payments < b.Customers || b.Payments > most {
		return nil, fmt.Errorf("%d customers and %d payments: want at least 200 customers, at least as many payments, and at most %d of each", b.Customers, b.Payments, most)
	}
	k := &bank{Bank: b, rng: rand.New(rand.NewPCG(b.Seed, 0xba27))}
	k.people()
	k.circles()
	k.risks()
	k.formRings()
	k.pay()
	t := &BankTables{Default: k.defaults(), Fraud: k.frauds()}
	k.customerTable(t)
	k.paymentTable(t)
	return t, nil
}

// weighted draws numbers with probabilities in proportion to weights.
type weighted []float64

func newWeighted(n int, weight func(i int) float64) weighted {
	sums, sum := make(weighted, n), 0.0
	for i := range sums {
		sum += weight(i)
		sums[i] = sum
	}
	return sums
}

func (w weighted) draw(rng *rand.Rand) int {
	i, _ := slices.BinarySearch(w, rng.Float64()*w[len(w)-1])
	return min(i, len(w)-1)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// standardise gives numbers the mean 0 and the deviation 1.
func standardise(x []float64) {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	for i := range x {
		x[i] = (x[i] - mean) / math.Sqrt(max(square, 1e-12))
	}
}

// calibrated turns logits into probabilities whose mean is the share that is positive.
func calibrated(logits []float64) []float64 {
	lo, hi := -40.0, 40.0
	for range 60 {
		mid, sum := (lo+hi)/2, 0.0
		for _, x := range logits {
			sum += logistic(x + mid)
		}
		if sum < bankPositive*float64(len(logits)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	p := make([]float64, len(logits))
	for i, x := range logits {
		p[i] = logistic(x + lo)
	}
	return p
}

// people draws what customers are.
func (k *bank) people() {
	rng := k.rng
	k.customers = make([]bankCustomer, k.Customers)
	level := make([]float64, len(bankTrades))
	for i := range level {
		level[i] = 0.3 * rng.NormFloat64()
	}
	towns := newWeighted(len(bankTowns), func(i int) float64 { return 1 / float64(i+2) })
	trades := newWeighted(len(bankTrades), func(i int) float64 { return 1 / math.Sqrt(float64(i+2)) })
	ranks := weighted{0.55, 0.7, 0.85, 1}
	rankLevel := []float64{0, 0.3, -0.3, -0.05}
	for i := range k.customers {
		c := &k.customers[i]
		c.age = 18 + 35*(rng.Float64()+rng.Float64())
		c.tenure = min(4*rng.ExpFloat64(), 15)
		c.town, c.trade, c.rank = towns.draw(rng), trades.draw(rng), ranks.draw(rng)
		experience := math.Exp(-math.Pow((c.age-50)/20, 2)/2) - 0.5
		x := 10.2 + level[c.trade] + rankLevel[c.rank] + 0.4*experience + 0.4*rng.NormFloat64()
		if rng.Float64() < 0.03 {
			x += 0.8 * rng.ExpFloat64() // a heavy tail
		}
		c.income = math.Exp(x)
		c.online = rng.Float64() < logistic((48-c.age)/10)
		c.stress = rng.NormFloat64()
		c.activity = math.Exp(0.7 * rng.NormFloat64())
		c.popularity = math.Exp(0.9 * rng.NormFloat64())
		if t := bankTrades[c.trade]; t == "shopkeeper" || t == "landlord" {
			c.popularity *= 12
		}
		c.ring = -1
	}
}

// circles gives each customer a circle of about forty people of the same town with similar incomes, and those whom
// they pay again and again, most of them from it.
func (k *bank) circles() {
	rng, n := k.rng, len(k.customers)
	order := rng.Perm(n)
	rank := make([]float64, n)
	for i, c := range k.customers {
		rank[i] = 100*float64(c.town) + math.Log(c.income) + 0.6*rng.NormFloat64()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	circles, towns := make([][]int, (n+39)/40), make([][]int, len(bankTowns))
	for at, i := range order {
		c := &k.customers[i]
		c.circle = at / 40
		circles[c.circle] = append(circles[c.circle], i)
		towns[c.town] = append(towns[c.town], i)
	}
	popular := func(ids []int) weighted {
		return newWeighted(len(ids), func(i int) float64 { return k.customers[ids[i]].popularity })
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	anyone, ofCircle, ofTown := popular(all), make([]weighted, len(circles)), make([]weighted, len(towns))
	for i, ids := range circles {
		ofCircle[i] = popular(ids)
	}
	for i, ids := range towns {
		ofTown[i] = popular(ids)
	}
	for i := range k.customers {
		c := &k.customers[i]
		for len(c.regular) < 2+rng.IntN(5) {
			other := 0
			switch x := rng.Float64(); {
			case x < 0.55:
				other = circles[c.circle][ofCircle[c.circle].draw(rng)]
			case x < 0.85:
				other = towns[c.town][ofTown[c.town].draw(rng)]
			default:
				other = anyone.draw(rng)
			}
			if other != i {
				c.regular = append(c.regular, other)
				c.regularAmounts = append(c.regularAmounts, math.Exp(4.2+1.1*rng.NormFloat64())*math.Sqrt(c.income/27000))
			}
		}
	}
}

// risks sets what the customers' own columns and stress say about their risk.
func (k *bank) risks() {
	rng := k.rng
	trade := make([]float64, len(bankTrades))
	for i := range trade {
		trade[i] = 0.5 * rng.NormFloat64()
	}
	logs := make([][]float64, len(bankTowns))
	for _, c := range k.customers {
		logs[c.town] = append(logs[c.town], math.Log(c.income))
	}
	usual := make([]float64, len(logs))
	for i, list := range logs {
		if slices.Sort(list); len(list) > 0 {
			usual[i] = list[len(list)/2]
		}
	}
	own := make([]float64, len(k.customers))
	for i, c := range k.customers {
		poor := max(0, usual[c.town]-math.Log(c.income))
		own[i] = 1.6*poor + 0.5*math.Pow((c.age-47)/15, 2) + 1.8*logistic((30-c.age)/2)*logistic((2-c.tenure)*2) + trade[c.trade] + 0.6*c.stress
		if bankRanks[c.rank] == "self-employed " {
			own[i] += 0.3 + 0.9*poor
		}
	}
	standardise(own)
	for i := range own {
		k.customers[i].own = own[i]
	}
}

// formRings draws who is in a ring: four in a hundred, more of them young and new than old.
func (k *bank) formRings() {
	rng := k.rng
	willing := newWeighted(len(k.customers), func(i int) float64 {
		c := k.customers[i]
		return (0.3 + logistic((32-c.age)/4)) * (0.3 + logistic(2-c.tenure)) / (0.2 + c.popularity)
	})
	for len(k.inRing) < len(k.customers)/25 {
		r := bankRing{begin: 330 * rng.Float64()}
		r.end = r.begin + 40 + 160*rng.Float64()
		for size := 6 + rng.IntN(9); len(r.members) < size; {
			i := willing.draw(rng)
			if c := &k.customers[i]; c.ring < 0 {
				c.ring = len(k.rings)
				r.members = append(r.members, i)
				k.inRing = append(k.inRing, i)
			}
		}
		k.rings = append(k.rings, r)
	}
}

// pay draws the payments, in the order of their times: most as people pay, 3 in 100 within rings, and 2 in 100 from others to
// members of rings.
func (k *bank) pay() {
	rng, n := k.rng, len(k.customers)
	payers := newWeighted(n, func(i int) float64 { return k.customers[i].activity })
	payees := newWeighted(n, func(i int) float64 { return k.customers[i].popularity })
	for len(k.payments) < k.Payments {
		var p bankPayment
		switch x := rng.Float64(); {
		case x < 0.03:
			p = k.within()
		case x < 0.05:
			p = k.baited(payers.draw(rng))
		default:
			p = k.usual(payers.draw(rng), payees)
		}
		if p.from != p.to {
			k.payments = append(k.payments, p)
		}
	}
	slices.SortStableFunc(k.payments, func(a, b bankPayment) int { return cmp.Compare(a.day, b.day) })
}

// day draws when in the year something is paid; few are at night.
func (k *bank) day(begin, end float64) float64 {
	end = min(end, 365)
	day := math.Floor(begin + (end-begin)*k.rng.Float64())
	hour := 8 + 14*(k.rng.Float64()+k.rng.Float64())/2
	if k.rng.Float64() < 0.06 {
		hour = 24 * k.rng.Float64()
	}
	return min(day, 364) + hour/24
}

// usual draws a payment as people make them.
func (k *bank) usual(from int, payees weighted) bankPayment {
	rng, c := k.rng, &k.customers[from]
	p := bankPayment{from: from, day: k.day(0, 365)}
	if rng.Float64() < 0.6 {
		at := rng.IntN(len(c.regular))
		p.to, p.regular = c.regular[at], true
		p.amount = c.regularAmounts[at] * math.Exp(0.1*rng.NormFloat64())
		p.channel = []string{"standing order", "transfer", "app"}[weighted{0.5, 0.8, 1}.draw(rng)]
		p.text = "rent " + bankDay.Add(time.Duration(p.day*24)*time.Hour).Month().String()
		if p.amount < 150 {
			p.text = bankPlain[rng.IntN(len(bankPlain))]
		}
		return p
	}
	p.to = payees.draw(rng)
	p.amount = math.Exp(3.4+1.1*rng.NormFloat64()) * math.Sqrt(c.income/27000)
	if rng.Float64() < 0.02 {
		p.amount *= math.Exp(2 * rng.ExpFloat64()) // a heavy tail
	}
	switch p.channel = []string{"card", "app", "transfer", "counter"}[weighted{0.5, 0.75, 0.93, 1}.draw(rng)]; {
	case p.channel == "card":
	case rng.Float64() < 0.35:
		p.text = "invoice " + strconv.Itoa(10000+rng.IntN(90000))
	case rng.Float64() < 0.03:
		p.text = bankBait[rng.IntN(len(bankBait))] // words that frauds have, too
	default:
		p.text = bankPlain[rng.IntN(len(bankPlain))]
	}
	if !c.online && p.channel == "app" {
		p.channel = "transfer"
	}
	return p
}

// within draws a payment that members of a ring pass on.
func (k *bank) within() bankPayment {
	rng := k.rng
	r := k.rings[rng.IntN(len(k.rings))]
	p := bankPayment{from: r.members[rng.IntN(len(r.members))], to: r.members[rng.IntN(len(r.members))], day: k.day(r.begin, r.end)}
	if rng.Float64() < 0.4 {
		p.to = r.members[0] // who collects
	}
	p.amount = math.Exp(5.2 + 0.8*rng.NormFloat64())
	p.channel = []string{"app", "transfer", "counter"}[weighted{0.6, 0.9, 1}.draw(rng)]
	p.text = bankPlain[rng.IntN(len(bankPlain))]
	return p
}

// baited draws a payment of somebody to a member of a ring.
func (k *bank) baited(from int) bankPayment {
	rng := k.rng
	r := k.rings[rng.IntN(len(k.rings))]
	p := bankPayment{from: from, to: r.members[rng.IntN(len(r.members))], day: k.day(r.begin, r.end)}
	p.amount = math.Exp(5 + rng.NormFloat64())
	p.channel = []string{"transfer", "app", "card"}[weighted{0.5, 0.85, 1}.draw(rng)]
	if p.text = bankPlain[rng.IntN(len(bankPlain))]; rng.Float64() < 0.4 {
		p.text = bankBait[rng.IntN(len(bankBait))]
	}
	return p
}

// around returns for each customer the mean of a number of those whom they pay or are paid by, payment by payment.
func (k *bank) around(of []float64) []float64 {
	sum, count := make([]float64, len(of)), make([]float64, len(of))
	for _, p := range k.payments {
		sum[p.from] += of[p.to]
		sum[p.to] += of[p.from]
		count[p.from]++
		count[p.to]++
	}
	for i := range sum {
		sum[i] /= max(count[i], 1)
	}
	return sum
}

// defaults returns the probability that each customer defaults.
func (k *bank) defaults() []float64 {
	own := make([]float64, len(k.customers))
	for i, c := range k.customers {
		own[i] = c.own
	}
	far := k.around(own)
	for i := range far {
		far[i] = own[i] + far[i]/2
	}
	spread := k.around(far)
	standardise(spread)
	logits := make([]float64, len(own))
	for i, c := range k.customers {
		logits[i] = 1.5*own[i] + 1.5*spread[i]
		if c.ring >= 0 {
			logits[i] += 2.5
		}
	}
	return calibrated(logits)
}

// frauds returns the probability that each payment is a fraud.
func (k *bank) frauds() []float64 {
	logs, count := make([]float64, len(k.customers)), make([]float64, len(k.customers))
	for _, p := range k.payments {
		logs[p.from] += math.Log(p.amount)
		count[p.from]++
	}
	before := map[[2]int]bool{}
	logits := make([]float64, len(k.payments))
	for i, p := range k.payments {
		x := 0.0
		for _, end := range []struct {
			customer int
			weight   float64
		}{{p.to, 3.2}, {p.from, 1.4}} {
			if ring := k.customers[end.customer].ring; ring >= 0 && p.day >= k.rings[ring].begin && p.day < k.rings[ring].end {
				x += end.weight
			}
		}
		x += 0.9 * max(0, math.Log(p.amount)-logs[p.from]/count[p.from]-0.5)
		if hour := 24 * (p.day - math.Floor(p.day)); hour < 6 {
			x += 1.2
		}
		switch p.channel {
		case "transfer":
			x += 0.5
		case "app":
			x += 0.9
		case "standing order":
			x -= 1
		}
		if pair := [2]int{p.from, p.to}; !before[pair] {
			before[pair] = true
			x += 0.8
		}
		if slices.Contains(bankBait, p.text) {
			x += 1
		}
		logits[i] = x
	}
	return calibrated(logits)
}

// answer draws "yes" with the given probability, else "no"; a few are not known.
func (k *bank) answer(p, unknown float64) string {
	yes, known := k.rng.Float64() < p, k.rng.Float64() >= unknown
	switch {
	case !known:
		return ""
	case yes:
		return "yes"
	}
	return "no"
}

// customerTable writes the table of customers.
func (k *bank) customerTable(t *BankTables) {
	rng := k.rng
	t.Customers = [][]string{{"id", "age", "income", "town", "occupation", "joined", "online", "note", "email", "defaulted"}}
	for i, c := range k.customers {
		id := fmt.Sprintf("c%05d", i)
		age, income, note := strconv.Itoa(int(c.age)), strconv.FormatFloat(math.Round(c.income/10)*10, 'f', -1, 64), ""
		if rng.Float64() < 0.07 {
			age = ""
		}
		missing := 0.08
		if bankRanks[c.rank] == "self-employed " {
			missing = 0.25
		}
		if rng.Float64() < missing {
			income = ""
		}
		if rng.Float64() < 0.5 {
			note = bankCalm[rng.IntN(len(bankCalm))]
			if rng.Float64() < logistic(1.5*c.stress-1.5) {
				note = bankWorried[rng.IntN(len(bankWorried))]
			}
			if rng.Float64() < 0.3 {
				note += ", " + bankCalm[rng.IntN(len(bankCalm))]
			}
		}
		online := "no"
		if c.online {
			online = "yes"
		}
		joined := bankDay.AddDate(0, 0, -1-int(c.tenure*365)).Format(time.DateOnly)
		t.Customers = append(t.Customers, []string{id, age, income, bankTowns[c.town], bankRanks[c.rank] + bankTrades[c.trade], joined, online, note, id + "@example.org", k.answer(t.Default[i], 0.05)})
	}
}

// paymentTable writes the table of payments.
func (k *bank) paymentTable(t *BankTables) {
	t.Payments = [][]string{{"source", "target", "amount", "at", "channel", "text", "fraud"}}
	for i, p := range k.payments {
		at := bankDay.Add(time.Duration(p.day*24*3600) * time.Second).Format(time.DateTime)
		t.Payments = append(t.Payments, []string{fmt.Sprintf("c%05d", p.from), fmt.Sprintf("c%05d", p.to), strconv.FormatFloat(max(p.amount, 0.01), 'f', 2, 64), at, p.channel, p.text, k.answer(t.Fraud[i], 0.01)})
	}
}
