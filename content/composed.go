package content

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ParsePage is [Parse] of a page as a browser shows it. Shadow roots are the content of their
// hosts, with the host's children in the slots; children without a slot follow. In a rendered
// document the frames of the page's own site are <div> elements: see [OpenFrames].
func ParsePage(page weburl.URL, body []byte) (*html.Node, error) {
	root, err := Parse(body)
	if bytes.Contains(body, []byte(`<iframe hidden srcdoc=`)) {
		frames, cut := openFrames(root, page)
		placeFrames(root, page, frames)
		err = cmp.Or(err, cut)
	}
	if bytes.Contains(body, []byte("shadowrootmode")) {
		compose(root)
	}
	return root, err
}

// OpenFrames puts the content of frames into a tree of a rendered document, where each frame is
// the srcdoc attribute of a hidden <iframe> at the end. Those of other sites, such as adverts and
// videos, stay empty. URLs in href, src and action are made absolute. An error says that frames
// are missing, as they would make the tree too large.
func OpenFrames(root *html.Node, page weburl.URL) error {
	_, err := openFrames(root, page)
	return err
}

func openFrames(root *html.Node, page weburl.URL) (opened []frame, err error) {
	room := frameRoom{tags: MaxTags, copies: 1 << 20, urls: MaxBody}
	for _, f := range framesOf(root) {
		at, err := weburl.Parse(f.url)
		if f.url != "" && (err != nil || !weburl.SameSite(at, page)) {
			continue
		}
		srcdoc := attr(f.node, "srcdoc")
		if !room.take(srcdoc) {
			return opened, ErrTooLong
		}
		document, _ := Parse([]byte(srcdoc))
		if body := find(document, atom.Body); body != nil {
			if f.url != "" {
				room.resolve(body, at)
			}
			moveChildren(f.node, body)
			opened = append(opened, f)
		}
	}
	return opened, nil
}

// frame is a frame of a rendered document.
type frame struct {
	node *html.Node
	url  string // empty: without one
}

// framesOf lists the frames of a rendered document.
func framesOf(root *html.Node) (all []frame) {
	walk(root, func(n *html.Node) bool {
		if isFrame(n) && len(all) < mostFrames {
			if url, ok := markup.FrameURL([]byte(attr(n, "srcdoc"))); ok {
				all = append(all, frame{n, url})
			}
		}
		return true
	})
	return all
}

func isFrame(n *html.Node) bool {
	return n.DataAtom == atom.Iframe && len(n.Attr) > 1 && n.Attr[0].Key == "hidden" && n.FirstChild == nil
}

// frameRoom is the room that is left for the frames of a page.
type frameRoom struct {
	tags, copies int // see Parse
	urls         int // bytes that bases add to URLs
}

// take takes the room of a document, and reports whether there was enough.
func (r *frameRoom) take(document string) bool {
	r.tags -= strings.Count(document, "<")
	r.copies -= copies([]byte(document), r.copies)
	return r.tags >= 0 && r.copies >= 0
}

// resolve makes the URLs in a frame absolute. Beyond the room they stay as they are.
func (r *frameRoom) resolve(frame *html.Node, at weburl.URL) {
	for n := range frame.Descendants() {
		for i, a := range n.Attr {
			if a.Key != "href" && a.Key != "src" && a.Key != "action" {
				continue
			}
			u, err := at.Resolve(a.Val)
			if size := len(u.String()); err == nil && size <= r.urls {
				n.Attr[i].Val = u.String()
				r.urls -= size
			}
		}
	}
}

// deepestPlace bounds the depth at which a part of a tree is put in another place.
const deepestPlace = MaxDepth / 2

// placeFrames moves the frames of a rendered document to where its elements stand: the first that
// has the frame's URL. Others stay at the end. All are <div> elements then.
func placeFrames(root *html.Node, page weburl.URL, frames []frame) {
	if base := find(root, atom.Base); base != nil {
		if u, err := page.Resolve(attr(base, "href")); err == nil {
			page = u
		}
	}
	for _, f := range frames {
		f.node.Data, f.node.DataAtom, f.node.Attr = "div", atom.Div, nil
	}
	isOne := func(n *html.Node) bool { return slices.ContainsFunc(frames, func(f frame) bool { return f.node == n }) }
	places := placesIn(root, isOne)
	for _, f := range frames {
		at, i := f.node, slices.IndexFunc(places, func(place *html.Node) bool { return leads(place, page, f.url) })
		if i < 0 {
			i = len(places)
		} else {
			at = places[i]
			places = slices.Delete(places, i, i+1)
			for at.FirstChild != nil { // for browsers without frames
				at.RemoveChild(at.FirstChild)
			}
			at.Data, at.DataAtom = "div", atom.Div
			moveChildren(at, f.node)
			f.node.Parent.RemoveChild(f.node)
		}
		places = slices.Insert(places, i, placesIn(at, func(n *html.Node) bool { return n != at && isOne(n) })...)
	}
}

// placesIn lists the places of frames in an element, without those in frames that have none yet: so
// none is put deeper later.
func placesIn(root *html.Node, isFrame func(*html.Node) bool) (all []*html.Node) {
	walk(root, func(n *html.Node) bool {
		if n.DataAtom == atom.Iframe && len(all) < mostFrames && depth(n) < deepestPlace {
			all = append(all, n)
		}
		return n.DataAtom != atom.Div || !isFrame(n)
	})
	return all
}

// leads reports whether an <iframe> has a frame of the URL; empty: one without.
func leads(place *html.Node, page weburl.URL, url string) bool {
	src := attr(place, "src")
	if url == "" || src == "" {
		return url == "" && (src == "" || strings.HasPrefix(src, "about:"))
	}
	u, err := page.Resolve(src)
	return err == nil && u.String() == url
}

// depth returns how many elements a node is in, up to deepestPlace.
func depth(n *html.Node) (depth int) {
	for ; n.Parent != nil && depth < deepestPlace; n = n.Parent {
		depth++
	}
	return depth
}

// compose makes shadow roots the content of their hosts, from the outside inwards: so a slot is
// where it stays when it is filled.
// https://html.spec.whatwg.org/multipage/scripting.html#attr-template-shadowrootmode
func compose(root *html.Node) {
	walk(root, func(host *html.Node) bool {
		for n := host.FirstChild; n != nil; n = n.NextSibling {
			if isShadowRoot(n) {
				fill(host, n)
				break
			}
		}
		return true
	})
}

func isShadowRoot(n *html.Node) bool {
	return n.DataAtom == atom.Template && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "shadowrootmode" })
}

// fill puts a shadow root in front of the children of its host, and those into its slots.
func fill(host, shadow *html.Node) {
	light := make(map[string][]*html.Node)
	for n := host.FirstChild; n != nil; n = n.NextSibling {
		if n != shadow {
			name := attr(n, "slot")
			light[name] = append(light[name], n)
		}
	}
	slots := slotsOf(shadow)
	for len(slots) > 0 {
		slot := slots[0]
		slots = slots[1:]
		name, in := attr(slot, "name"), attr(slot, "slot")
		with := light[name]
		if isBlank(with) || depth(slot) == deepestPlace {
			with = nil // the slot shows its own content
			for n := slot.FirstChild; n != nil; n = n.NextSibling {
				with = append(with, n)
				slots = append(slots, slotsOf(n)...)
			}
		} else {
			delete(light, name)
		}
		for _, n := range with {
			n.Parent.RemoveChild(n)
			slot.Parent.InsertBefore(n, slot)
			putInto(n, in)
		}
		slot.Parent.RemoveChild(slot)
	}
	host.RemoveChild(shadow)
	for first := host.FirstChild; shadow.FirstChild != nil; {
		n := shadow.FirstChild
		shadow.RemoveChild(n)
		host.InsertBefore(n, first)
	}
}

// slotsOf lists the slots in a part of a shadow root, without those of others in it, and those
// within the content of another slot.
func slotsOf(shadow *html.Node) (all []*html.Node) {
	walk(shadow, func(n *html.Node) bool {
		if n.DataAtom == atom.Slot && n.Namespace == "" {
			all = append(all, n)
			return false
		}
		return n == shadow || !isShadowRoot(n)
	})
	return all
}

// putInto names the slot of a shadow root further inside that a node is for: that of the slot in
// whose place it is.
func putInto(n *html.Node, slot string) {
	if n.Type == html.ElementNode && attr(n, "slot") != slot {
		n.Attr = append(slices.DeleteFunc(slices.Clone(n.Attr), func(a html.Attribute) bool { return a.Key == "slot" }), html.Attribute{Key: "slot", Val: slot})
	}
}

// isBlank reports whether nodes have no text.
func isBlank(all []*html.Node) bool {
	return !slices.ContainsFunc(all, func(n *html.Node) bool {
		return n.Type == html.ElementNode || n.Type == html.TextNode && strings.TrimSpace(n.Data) != ""
	})
}
