package unseen

import (
	"strconv"
	"strings"
)

// A color is red, green and blue, 0 to 255. The zero color is not known.
type color struct {
	known, clear bool // clear: nothing is seen of it
	rgb          [3]int
}

var white = color{known: true, rgb: [3]int{255, 255, 255}}

var named = map[string][3]int{
	"white": {255, 255, 255}, "black": {}, "red": {255, 0, 0}, "green": {0, 128, 0}, "blue": {0, 0, 255}, "yellow": {255, 255, 0},
	"gray": {128, 128, 128}, "grey": {128, 128, 128}, "silver": {192, 192, 192}, "snow": {255, 250, 250}, "ivory": {255, 255, 240},
	"whitesmoke": {245, 245, 245}, "ghostwhite": {248, 248, 255}, "floralwhite": {255, 250, 240}, "lightgray": {211, 211, 211},
	"lightgrey": {211, 211, 211}, "navy": {0, 0, 128}, "maroon": {128, 0, 0}, "orange": {255, 165, 0}, "purple": {128, 0, 128},
}

// colorOf reads a color.
func colorOf(value string) (c color) {
	value = strings.TrimSpace(value)
	if value == "transparent" {
		return color{known: true, clear: true}
	}
	if rgb, ok := named[value]; ok {
		return color{known: true, rgb: rgb}
	}
	if hex, ok := strings.CutPrefix(value, "#"); ok {
		if len(hex) == 3 || len(hex) == 4 {
			var long strings.Builder
			for i := range len(hex) {
				long.WriteString(hex[i:i+1] + hex[i:i+1])
			}
			hex = long.String()
		}
		n, err := strconv.ParseUint(hex, 16, 64)
		if err != nil || len(hex) != 6 && len(hex) != 8 {
			return c
		}
		if len(hex) == 8 {
			c.clear = n&0xFF < 0x10
			n >>= 8
		}
		return color{known: true, clear: c.clear, rgb: [3]int{int(n >> 16 & 0xFF), int(n >> 8 & 0xFF), int(n & 0xFF)}}
	}
	name, inner, ok := strings.Cut(value, "(")
	if !ok || name != "rgb" && name != "rgba" && name != "hsla" {
		return c
	}
	parts := strings.FieldsFunc(strings.TrimSuffix(inner, ")"), func(r rune) bool { return r == ' ' || r == ',' || r == '/' })
	if len(parts) < 3 {
		return c
	}
	if len(parts) > 3 && isNothing(parts[3], 0.05) {
		return color{known: true, clear: true}
	}
	for i := range c.rgb {
		n, unit, ok := number(parts[i])
		if !ok || name == "hsla" {
			return color{}
		}
		if unit == "%" {
			n *= 2.55
		}
		c.rgb[i] = int(n)
	}
	c.known = true
	return c
}

// isLike reports whether a text of the color cannot be read on the other.
func (c color) isLike(other color) bool {
	far := 0
	for i := range c.rgb {
		far += max(c.rgb[i]-other.rgb[i], other.rgb[i]-c.rgb[i])
	}
	const indistinct = 24
	return c.known && (c.clear || other.known && !other.clear && far <= indistinct)
}

// backgroundOf reads the color in a background; a picture is not known.
func backgroundOf(value string) color {
	if strings.Contains(value, "url(") || strings.Contains(value, "gradient(") {
		return color{}
	}
	if c := colorOf(value); c.known {
		return c
	}
	for part := range strings.FieldsSeq(value) {
		if c := colorOf(part); c.known {
			return c
		}
	}
	return color{}
}
