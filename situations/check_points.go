package situations

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxPoints bounds how many combinations of values a check tries.
const maxPoints = 4096

// points are the values at which formulas can change their minds: every
// constant they hold and its neighbours. A formula that is true nowhere there is
// true nowhere.
type points struct {
	table  *attributeTable
	attrs  []*Attribute
	values [][]string // for each attribute, as text
}

// pointsOf gathers the points of some formulas. It gives nothing if they cannot
// be tried out: they look at more than attributes, or there are too many points.
func pointsOf(formulas ...*Formula) *points {
	p := &points{table: formulas[0].table}
	uses := uint64(0)
	var numbers []int
	var texts []string
	for _, f := range formulas {
		if f.opaque || f.table != p.table {
			return nil
		}
		uses |= f.uses
		for _, t := range scanFormula(f.source) {
			switch t.kind {
			case tokenNumber:
				if n, err := strconv.ParseFloat(t.text, 64); err == nil && n < 1e12 {
					numbers = append(numbers, int(n))
				}
			case tokenString:
				texts = append(texts, t.text[1:len(t.text)-1])
			case tokenSpace, tokenWord, tokenOperator:
			}
		}
	}
	total := 1
	for i := range p.table.list {
		a := &p.table.list[i]
		if uses&a.bit == 0 {
			continue
		}
		p.attrs = append(p.attrs, a)
		p.values = append(p.values, pointsFor(a, numbers, texts))
		if total *= len(p.values[len(p.values)-1]); total > maxPoints {
			return nil
		}
	}
	return p
}

func pointsFor(a *Attribute, numbers []int, texts []string) []string {
	if a.Type == typeText {
		if len(a.Values) > 0 {
			return a.Values
		}
		return dedup(append([]string{"", "X"}, texts...))
	}
	out := []int{0, 1}
	for _, n := range numbers {
		out = append(out, n-1, n, n+1)
	}
	slices.Sort(out)
	out = slices.DeleteFunc(slices.Compact(out), func(n int) bool {
		return n < 0 || a.Group == GroupQueue && a.bit&(readyBit|readersBit) != 0 && n > 100
	})
	list := make([]string, len(out))
	for i, n := range out {
		list[i] = strconv.Itoa(n)
	}
	return list
}

func dedup(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// each tries every combination until fn has seen enough.
func (p *points) each(fn func(row *Row, choice []int) bool) {
	choice := make([]int, len(p.attrs))
	for {
		row := p.row(choice)
		if !fn(&row, choice) {
			return
		}
		i := 0
		for ; i < len(choice); i++ {
			if choice[i]++; choice[i] < len(p.values[i]) {
				break
			}
			choice[i] = 0
		}
		if i == len(choice) {
			return
		}
	}
}

// row is a sample with the chosen values.
func (p *points) row(choice []int) Row {
	v := reflect.New(reflect.TypeOf(p.table.env())).Elem()
	row := Row{InstancesKnown: true}
	for i, attr := range p.attrs {
		text := p.values[i][choice[i]]
		n, _ := strconv.Atoi(text) // the texts of numbers are ours
		switch {
		case attr.Group == GroupQueue && attr.bit == readyBit:
			for range n {
				row.Instances = append(row.Instances, Instance{Put: true, Reachable: true, ClwlRank: 9, ClwlPrty: 9, ReadersKnown: true})
			}
		case attr.Group == GroupQueue && attr.bit == readersBit:
			row.Instances = append(row.Instances, Instance{Readers: n, ReadersKnown: true})
		case attr.Type == typeText:
			v.FieldByName(attr.Name).SetString(text)
		default:
			v.FieldByName(attr.Name).SetInt(int64(n))
		}
	}
	row.Env = v.Interface()
	return row
}

// describe reads "IPPROCS is 0 and PUT is ENABLED".
func (p *points) describe(choice []int) string {
	var out []string
	for i, a := range p.attrs {
		value := p.values[i][choice[i]]
		if a.Type == typeText && value == "" {
			value = "blank"
		}
		out = append(out, fmt.Sprintf("%s is %s", a.Name, value))
	}
	return strings.Join(out, " and ")
}
