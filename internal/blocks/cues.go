package blocks

// A cue is a word that a reader knows boilerplate by, in blocks of few words.
type cue = uint8

const (
	cNone cue = iota
	cSubscribe
	cRelated
	cShare
	cRights
	cCookie
	cComment
	cPhoto
	cAuthor
	cAd
	cLogin
	cSearch
	cPrice
	cCart
	cDate
	cReview
	cPager
	cAction
	cContact
	cLegal
	cFree
	cNumber
	cSource
	cYou
	cDisclosure
	cueEnd
)

// cueNames are the names of rules.
var cueNames = [cueEnd]string{
	cSubscribe: "subscribe", cRelated: "related", cShare: "share", cRights: "rights",
	cCookie: "cookie", cComment: "comment", cPhoto: "photo", cAuthor: "author", cAd: "ad",
	cLogin: "login", cSearch: "search", cPrice: "price", cCart: "cart", cDate: "date",
	cReview: "review", cPager: "pager", cAction: "action", cContact: "contact", cLegal: "legal",
	cFree: "free", cSource: "source", cYou: "you", cDisclosure: "disclosure", cNumber: "number",
}

// cues are the words. Most pages that repeat themselves do so in English.
var cueWords = map[cue]string{
	cSubscribe:  "subscribe newsletter newsletters inbox signup subscription subscribers unsubscribe abonnieren abonnez suscríbete",
	cRelated:    "related recommended similar trending popular latest also más mehr autres lire leer siguiente advertisement",
	cShare:      "share facebook twitter linkedin whatsapp pinterest instagram follow tweet telegram reddit youtube teilen partager compartir",
	cRights:     "copyright rights reserved trademarks trademark",
	cCookie:     "cookie cookies consent gdpr tracking preferences",
	cComment:    "comment comments reply replies commenting kommentare commentaires comentarios discussion respond",
	cPhoto:      "photo photograph image getty images reuters picture credit pictured illustration file caption courtesy",
	cAuthor:     "author written editor reporter writer contributor journalist posted edited reviewed por von",
	cAd:         "sponsored sponsor promoted affiliate commission commissions partner advertise",
	cLogin:      "login sign register account password username logout member membership join",
	cSearch:     "search filter sort filters clear results showing refine",
	cPrice:      "price sale discount off save regular usd eur gbp",
	cCart:       "cart checkout wishlist bag basket shipping delivery returns stock sold quantity qty",
	cDate:       "ago january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday am pm updated published",
	cReview:     "review reviews rating ratings stars star verified helpful customer customers",
	cPager:      "previous next page prev older newer back top",
	cAction:     "click download print copy edit view show hide close open loading expand toggle menu skip load",
	cContact:    "contact email call phone demo talk sales quote consultation book schedule",
	cLegal:      "privacy terms policy disclaimer conditions recaptcha policies sitemap",
	cFree:       "free trial get started start try learn discover explore ready",
	cSource:     "contributed reporting tip reached",
	cYou:        "you your our we us",
	cDisclosure: "article post originally appeared links",
}

// signsIn looks up what is a cue without being a word.
func signsIn(s string) (found uint32) {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			found |= 1 << cNumber
		case c == '$':
			found |= 1 << cPrice
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0xa3, c == 0xe2 && i+2 < len(s) && s[i+1:i+3] == "\x82\xac":
			// £ and €.
			found |= 1 << cPrice
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0xa9: // ©
			found |= 1 << cRights
		}
	}
	return found
}
