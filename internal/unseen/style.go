package unseen

import (
	"strconv"
	"strings"
)

// style has the values that were declared last, by property.
type style map[string]string

// interesting are the properties that may hide something.
var interesting = map[string]bool{
	"display": true, "visibility": true, "opacity": true, "font-size": true, "color": true, "background": true, "background-color": true,
	"position": true, "left": true, "right": true, "top": true, "bottom": true, "text-indent": true, "margin-left": true, "margin-top": true,
	"clip": true, "clip-path": true, "width": true, "height": true, "max-width": true, "max-height": true, "overflow": true, "transform": true,
	"content-visibility": true, "-webkit-text-fill-color": true, "font": true, "filter": true,
}

// declare adds the declarations of a block to s.
func (s style) declare(block string) {
	for declaration := range strings.SplitSeq(plain(block), ";") {
		name, value, ok := strings.Cut(declaration, ":")
		name = strings.TrimSpace(name)
		if !ok || !interesting[name] {
			continue
		}
		value, important := strings.CutSuffix(strings.TrimSpace(value), "important")
		if important {
			value = strings.TrimSuffix(strings.TrimSpace(value), "!")
		}
		s[name] = strings.TrimSpace(value)
	}
}

// plain returns CSS in lower case without comments and escapes.
func plain(css string) string {
	css = strings.ToLower(css)
	if strings.Contains(css, "/*") {
		var b strings.Builder
		for css != "" {
			before, rest, _ := strings.Cut(css, "/*")
			b.WriteString(before)
			b.WriteByte(' ')
			_, css, _ = strings.Cut(rest, "*/")
		}
		css = b.String()
	}
	if !strings.Contains(css, `\`) {
		return css
	}
	var b strings.Builder
	for css != "" {
		before, rest, ok := strings.Cut(css, `\`)
		b.WriteString(before)
		css = rest
		if !ok {
			break
		}
		n := 0
		for n < len(rest) && n < 6 && strings.IndexByte("0123456789abcdef", rest[n]) >= 0 {
			n++
		}
		if code, err := strconv.ParseUint(rest[:n], 16, 32); err == nil {
			b.WriteString(strings.ToLower(string(rune(code))))
			css = strings.TrimPrefix(rest[n:], " ")
		}
	}
	return b.String()
}

// hides reports whether an element of the style is unseen with all that is in it.
func (s style) hides() bool {
	if len(s) == 0 {
		return false
	}
	clipped := s["overflow"] == "hidden" || s["overflow"] == "clip"
	fixed := s["position"] == "absolute" || s["position"] == "fixed"
	moved := strings.ReplaceAll(s["transform"], " ", "")
	switch {
	case s["display"] == "none", s["content-visibility"] == "hidden", isNothing(s["opacity"], 0.05), strings.HasPrefix(s["filter"], "opacity(0"):
	case clipped && (isNothing(s["width"], 1) || isNothing(s["height"], 1) || isNothing(s["max-width"], 1) || isNothing(s["max-height"], 1)):
	case isFar(s["text-indent"]), isFar(s["margin-left"]), isFar(s["margin-top"]):
	case fixed && (isFar(s["left"]) || isFar(s["top"]) || isFar(s["right"]) || isFar(s["bottom"])):
	case fixed && clipsAll(s["clip"], "rect("), clipsAll(s["clip-path"], "circle("), insetAll(s["clip-path"]):
	case strings.HasPrefix(moved, "scale(0)"), strings.HasPrefix(moved, "scale(0,"), strings.HasPrefix(moved, "scale3d(0,"), isMovedFar(moved):
	default:
		return false
	}
	return true
}

// isNothing reports whether a length or a number is there, and at most so large.
func isNothing(value string, most float64) bool {
	n, unit, ok := number(value)
	if unit == "em" || unit == "rem" {
		n *= 16
	} else if unit == "%" {
		n /= 100
	}
	return ok && n <= most
}

// isFar reports whether a length leads beyond the edge of any page.
func isFar(value string) bool {
	n, unit, ok := number(value)
	switch unit {
	case "em", "rem":
		n *= 16
	case "%", "vw", "vh":
		n *= 10
	}
	return ok && n <= -999
}

// isMovedFar reports whether a transform moves an element off the page.
func isMovedFar(transform string) bool {
	for _, name := range []string{"translate(", "translatex(", "translatey(", "translate3d("} {
		if _, by, ok := strings.Cut(transform, name); ok {
			x, y, _ := strings.Cut(strings.TrimSuffix(by, ")"), ",")
			return isFar(strings.TrimSuffix(x, ")")) || isFar(strings.TrimSuffix(y, ")"))
		}
	}
	return false
}

// clipsAll reports whether a shape leaves nothing.
func clipsAll(value, shape string) bool {
	inner, ok := strings.CutPrefix(value, shape)
	if !ok {
		return false
	}
	inner, _, _ = strings.Cut(inner, ")")
	inner, _, _ = strings.Cut(inner, " at ")
	for part := range strings.FieldsFuncSeq(inner, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !isNothing(part, 1) {
			return false
		}
	}
	return true
}

// insetAll reports whether a clip-path cuts half away from a side, and so, as it is written, from
// the other.
func insetAll(value string) bool {
	inner, ok := strings.CutPrefix(value, "inset(")
	n, unit, isNumber := number(strings.TrimSuffix(strings.Split(inner, " ")[0], ")"))
	return ok && isNumber && unit == "%" && n >= 50
}

// number reads a number and its unit.
func number(value string) (n float64, unit string, ok bool) {
	end := 0
	for end < len(value) && strings.IndexByte("+-.0123456789", value[end]) >= 0 {
		end++
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, strings.TrimSpace(value[end:]), err == nil
}
