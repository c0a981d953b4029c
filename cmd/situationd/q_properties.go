package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// qPropertiesMax is how many properties may be set with #p.
const qPropertiesMax = 1024

const qPropertiesHelp = `i  add an integer: the name and the value follow, each on a line
s  add a string, likewise       d  delete one: the name follows
l  list                         c or D  clear             q  quit
`

// editProperties is #p: NAME=VALUE, or the menu of MA01 whose answers are the next lines.
func (r *qRun) editProperties(ctx context.Context, text string, next func(context.Context) (string, error)) error {
	if name, value, ok := strings.Cut(text, "="); ok {
		return r.setProperty(guessProperty(strings.TrimSpace(name), value))
	}
	if text != "" {
		return usagef("q: #p %s: write #p NAME=VALUE, or #p alone", text)
	}
	for {
		line, err := next(ctx)
		if err != nil {
			return err
		}
		switch choice := strings.TrimSpace(line); choice {
		case "":
		case "q":
			return nil
		case "c", "D":
			r.properties = nil
		case "l":
			var out bytes.Buffer
			listProperties(&out, r.properties)
			if _, err := r.env.Stderr.Write(out.Bytes()); err != nil {
				return err
			}
		case "i", "s", "d":
			if err := r.askProperty(ctx, choice, next); err != nil {
				return err
			}
		default:
			fmt.Fprintf(r.env.Stderr, "q: %q is no choice\n%s", choice, qPropertiesHelp)
		}
	}
}

// askProperty reads the name, and the value, of one property.
func (r *qRun) askProperty(ctx context.Context, choice string, next func(context.Context) (string, error)) error {
	name, err := next(ctx)
	if err != nil {
		return err
	}
	if choice == "d" {
		for i := range r.properties {
			if r.properties[i].Name == name {
				r.properties = append(r.properties[:i:i], r.properties[i+1:]...)
				return nil
			}
		}
		return usagef("q: #p: there is no property %q to delete", name)
	}
	value, err := next(ctx)
	if err != nil {
		return err
	}
	if choice == "s" {
		return r.setProperty(mqi.Property{Name: name, Type: 's', Value: []byte(value)})
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return usagef("q: #p: %q is no integer for the property %s", value, name)
	}
	return r.setProperty(integerProperty(name, n))
}

// setProperty adds a property, or replaces the one of its name.
func (r *qRun) setProperty(p mqi.Property) error {
	if p.Name == "" {
		return usagef("q: #p: a property needs a name")
	}
	for i := range r.properties {
		if r.properties[i].Name == p.Name {
			r.properties[i] = p
			return nil
		}
	}
	if len(r.properties) == qPropertiesMax {
		return usagef("q: #p: a message may have %d properties here", qPropertiesMax)
	}
	r.properties = append(r.properties[:len(r.properties):len(r.properties)], p)
	return nil
}

// guessProperty is the property of NAME=VALUE: an integer, a number, a truth
// value, or a string, which quotes make of anything.
func guessProperty(name, value string) mqi.Property {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return integerProperty(name, n)
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, "xX_") {
		return mqi.Property{Name: name, Type: 'f', Value: binary.BigEndian.AppendUint64(nil, math.Float64bits(f))}
	}
	switch {
	case value == "TRUE":
		return mqi.Property{Name: name, Type: 'b', Value: []byte{1}}
	case value == "FALSE":
		return mqi.Property{Name: name, Type: 'b', Value: []byte{0}}
	case len(value) >= 2 && strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'"):
		value = value[1 : len(value)-1]
	}
	return mqi.Property{Name: name, Type: 's', Value: []byte(value)}
}

func integerProperty(name string, n int64) mqi.Property {
	return mqi.Property{Name: name, Type: 'i', Value: binary.BigEndian.AppendUint64(nil, uint64(n))}
}
