package appshell

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// A place is the meaning of an element in which nothing is shown.
type place uint8

const (
	none        place = iota
	mount             // frameworks fill it
	ignored           // furniture and widgets: neither their text counts nor that they are empty
	spinner           // ignored, and asks for patience
	placeholder       // a block where text will be
	content           // named for content
	custom            // a custom element
	component         // it has the name of a component, or of what is to be fetched
	blank             // a piece of text with a name
	bound             // a script writes its text
	code              // its text is shown as it is written
	link
	other // a place that a script may fill
)

// mounts are the ids of the elements that frameworks fill, in lower case. Custom elements, such as
// Angular's app-root, count by their name.
var mounts = []string{
	"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "react-root", "reactroot", "react-app", "vue-app",
	"application", "app-container", "app-mount", "main-app", "mount", "svelte", "q-app", "ember-application",
	"swagger-ui", "redoc-container", "single-spa-application", "wrapper-app", "spa", "elm", "outlet", "graphiql",
}

// customMounts are names of elements that hold a whole page.
var customMounts = []string{"app-root", "my-app", "ng-app", "app-component", "app-shell", "app", "redoc", "rapi-doc", "elements-api"}

// raws are the elements whose text is not shown, or has no tags.
var raws = []string{"style", "title", "template", "xmp", "noembed", "noframes"}

// shows are the elements that show something without text.
var shows = []string{
	"img", "picture", "video", "audio", "iframe", "frame", "object", "embed", "table",
	"input", "select", "button", "textarea", "amp-img", "slot",
}

// textBlocks are the elements that hold text of a page.
var textBlocks = []string{"p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "dt", "dd", "blockquote", "figcaption", "pre"}

var headings = []string{"h1", "h2", "h3", "h4", "h5", "h6"}

// inlines are elements within text.
var inlines = []string{"a", "b", "i", "em", "strong", "span", "small", "code", "br", "img", "font", "u"}

// voids are elements without an end tag, and elements that say nothing of their place.
var voids = []string{
	"html", "head", "body", "img", "br", "hr", "input", "link", "area", "base", "col", "embed", "frame", "source", "track", "wbr", "param",
}

// furniture are the elements that hold no content of their own.
var furniture = []string{"nav", "header", "footer", "aside", "dialog"}

// fillable are the elements that scripts fill with content.
var fillable = []string{"main", "article", "section", "ul", "ol", "tbody"}

// texts are elements that hold a piece of text.
var texts = []string{"p", "h2", "h3", "h4", "td", "dd", "span"}

// roles are those of furniture.
var roles = []string{"navigation", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "search"}

// words are the places that words within ids and classes name.
var words = table(map[place]string{
	ignored: `nav navbar navigation topnav subnav menu topbar toolbar header masthead footer foot colophon sidebar aside breadcrumb
		breadcrumbs crumbs skip legal copyright cookie cookies consent gdpr cookiebot usercentrics onetrust banner modal dialog popup
		popover toast toasts tooltip overlay backdrop lightbox offcanvas drawer dropdown teleports announcer notification
		notifications notice alert alerts flash snackbar tags tag meta categories
		ad ads advert adsense adslot gpt dfp sponsor comment comments disqus isso giscus utterances chat livechat intercom zendesk
		crisp tawk map maps mapid gmap leaflet captcha recaptcha hcaptcha turnstile share sharing social addthis facebook fb
		twitter instagram rating ratings stars review reviews related recommendation recommendations recommended countdown timer
		search searchbox autocomplete player video youtube widget result error particles clear clearfix spacer separator divider
		icon icons arrow bg background shadow line progress badge logo avatar pixel tracking tracker analytics cart minicart
		basket wishlist newsletter translate`,
	spinner:     "loading loader preloader spinner splash throbber preload",
	placeholder: "skeleton shimmer placeholder placeholders",
	content: `content contents main page view views viewport results hits products product items list listing feed grid posts post
		articles article entries stories news catalog cards timeline gallery description detail details chapter chapters recipe
		recipes documentation docs root app output target collection`,
	// Words that say that a name is about something else.
	other: "layout with has no without open visible",
})

// parts are the words in the names of custom elements that hold no content.
var parts = table(map[place]string{
	ignored: `icon icons toggle button img image picture video audio youtube player viewer analytics ad pixel emoji time search cookie
		consent stream outlet toc menu nav header footer amp pixel theme banner modal dialog toast tooltip map chat comments share
		sidebar scrollbox progress spinner loader`,
})

// A vocabulary has the places that words name.
type vocabulary map[string]place

func table(of map[place]string) vocabulary {
	t := make(vocabulary)
	for place, words := range of {
		for _, w := range bytes.Fields([]byte(words)) {
			t[string(w)] = place
		}
	}
	return t
}

// placeOf returns the place that an element is.
func placeOf(name []byte, a *attributes) place {
	isContent := named(name, fillable) != ""
	switch {
	case named(a.id, mounts) != "" || named(name, customMounts) != "":
		return mount
	case named(name, furniture) != "" || named(a.role, roles) != "":
		return ignored
	case markup.EqualFold(name, "a"):
		return link
	case markup.EqualFold(name, "code") || markup.EqualFold(name, "pre"):
		return code
	}
	p := words.placeOf(a.id)
	if p == none {
		p = words.placeOf(a.class)
	}
	isCustom := bytes.IndexByte(name, '-') > 0
	switch {
	case p == ignored && (markup.EqualFold(name, "main") || markup.EqualFold(name, "article")):
		return content
	case p == ignored || p == spinner || p == placeholder:
		return p
	case a.bound:
		return bound
	case isCustom && (parts.placeOf(name) == ignored || words.placeOf(name) == ignored):
		return ignored
	case a.component:
		return component
	case isCustom:
		return custom
	case isContent || markup.EqualFold(name, "h1"):
		return content
	case len(a.id) > 0 && named(name, texts) != "":
		return blank
	case !markup.EqualFold(name, "div"):
		return none
	case p == content:
		return content
	case len(a.id) > 0 || len(a.class) > 0:
		return other
	}
	return none
}

// maxWord is the length of the longest word of a vocabulary.
const maxWord = 16

// placeOf returns the place that the words of names tell, which white space separates. Furniture
// comes before content, as in "footer-content".
func (v vocabulary) placeOf(names []byte) (best place) {
	for len(names) > 0 {
		at := 0
		for at < len(names) && !markup.IsSpace(names[at]) {
			at++
		}
		if p := v.placeOfName(names[:at]); p != none && (best == none || p < best) {
			best = p
		}
		names = names[min(at+1, len(names)):]
	}
	return best
}

// placeOfName is placeOf for one name, such as "page-header", "pageHeader" or "Page_header__x1".
func (v vocabulary) placeOfName(name []byte) (best place) {
	for len(name) > 0 {
		var word [maxWord]byte
		n, at := 0, 0
		for ; at < len(name) && markup.IsLetter(name[at]) && (at == 0 || !isUpper(name[at]) || isUpper(name[at-1])); at++ {
			if n < maxWord {
				word[n] = name[at] | 0x20
				n++
			}
		}
		switch p := v[string(word[:n])]; {
		case p == other:
			return none
		case p != none && (best == none || p < best):
			best = p
		}
		if at < len(name) && !markup.IsLetter(name[at]) {
			at++
		}
		name = name[at:]
	}
	return best
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
