package blocks

import "golang.org/x/net/html/atom"

// A hint is the evidence of the name, role, id or classes of an element about its content. What a
// hint is worth is measured (weights.go): "comment" is bad for an article and good for a forum.
type hint = uint8

const (
	hNone hint = iota
	hNav
	hFooter
	hHeader
	hAside
	hMain
	hArticle
	hContent
	hBody
	hPost
	hComment
	hRelated
	hShare
	hPromo
	hSubscribe
	hCookie
	hBreadcrumb
	hAuthor
	hMeta
	hTag
	hForm
	hModal
	hSearch
	hFilter
	hProduct
	hDescription
	hReview
	hPrice
	hList
	hCard
	hToc
	hLegal
	hLogin
	hSkip
	hCaption
	hWidget
	hHero
	hSection
	hTitle
	hButton
	hTabs
	hPager
	hAction
	hDialog
	hTable
	hUser
	hQuote
	hBanner
	hRecommend
	hCart
	hCode
	hFaq
	hQuestion
	hSummary
	hSlider
	hSignature
	hFollow
	hMenu
	hTopbar
	hHidden
	hAriaHidden
	hFigure
	hintEnd
)

// hintNames are the names of rules.
var hintNames = [hintEnd]string{
	hNav: "navigation", hFooter: "footer", hHeader: "header", hAside: "aside", hMain: "main",
	hArticle: "article", hContent: "content", hBody: "body", hPost: "post", hComment: "comment",
	hRelated: "related", hShare: "share", hPromo: "promotion", hSubscribe: "subscribe",
	hCookie: "cookie", hBreadcrumb: "breadcrumb", hAuthor: "author", hMeta: "meta", hTag: "tag",
	hForm: "form", hModal: "modal", hSearch: "search", hFilter: "filter", hProduct: "product",
	hDescription: "description", hReview: "review", hPrice: "price", hList: "list", hCard: "card",
	hToc: "toc", hLegal: "legal", hLogin: "login", hSkip: "skip", hCaption: "caption",
	hWidget: "widget", hHero: "hero", hSection: "section", hTitle: "title", hButton: "button",
	hTabs: "tabs", hPager: "pager", hAction: "action", hDialog: "dialog", hTable: "table",
	hUser: "user", hQuote: "quote", hBanner: "banner", hRecommend: "recommended", hCart: "cart",
	hCode: "code", hFaq: "faq", hQuestion: "question", hSummary: "summary", hSlider: "slider",
	hSignature: "signature", hFollow: "follow", hMenu: "menu", hTopbar: "topbar",
	hHidden: "hidden", hAriaHidden: "aria-hidden", hFigure: "figure",
}

var elementHints = map[atom.Atom]uint64{
	atom.Nav: 1 << hNav, atom.Footer: 1 << hFooter, atom.Header: 1 << hHeader, atom.Aside: 1 << hAside,
	atom.Main: 1 << hMain, atom.Article: 1 << hArticle, atom.Form: 1 << hForm, atom.Dialog: 1 << hDialog,
	atom.Figure: 1 << hFigure, atom.Table: 1 << hTable, atom.Blockquote: 1 << hQuote, atom.Pre: 1 << hCode,
	atom.Section: 1 << hSection, atom.Menu: 1 << hMenu, atom.Button: 1 << hButton, atom.Search: 1 << hSearch,
}

var roleHints = map[string]uint64{
	"navigation": 1 << hNav, "contentinfo": 1 << hFooter, "banner": 1 << hBanner, "complementary": 1 << hAside,
	"main": 1 << hMain, "article": 1 << hArticle, "dialog": 1 << hDialog, "alertdialog": 1 << hDialog, "search": 1 << hSearch,
	"menu": 1 << hMenu, "menubar": 1 << hMenu, "menuitem": 1 << hMenu, "tablist": 1 << hTabs, "tab": 1 << hTabs,
	"alert": 1 << hDialog, "form": 1 << hForm, "button": 1 << hButton, "listbox": 1 << hFilter, "note": 1 << hQuote,
	"doc-toc": 1 << hToc, "status": 1 << hDialog,
}

var itemHints = map[string]uint64{
	"articleBody": 1 << hBody, "description": 1 << hDescription, "author": 1 << hAuthor, "comment": 1 << hComment,
	"review": 1 << hReview, "text": 1 << hBody, "breadcrumb": 1 << hBreadcrumb, "mainEntity": 1 << hMain, "datePublished": 1 << hMeta,
}

// hintWords are the words of ids and classes that are hints. A word belongs to one hint.
var hintWords = map[hint]string{
	hNav:         "nav navigation navbar navi navs subnav sidenav mainnav topnav",
	hMenu:        "menu menus submenu megamenu dropdown flyout drawer hamburger offcanvas",
	hFooter:      "footer foot colophon bottom copyright footnav contentinfo",
	hHeader:      "header masthead head heading headline",
	hTopbar:      "topbar toolbar statusbar appbar top utility ribbon",
	hAside:       "sidebar aside side rail secondary sidecolumn complementary rightcol leftcol sidebars",
	hMain:        "main primary maincontent",
	hArticle:     "article story articles",
	hContent:     "content contents richtext rte prose markdown wysiwyg text copy rich md",
	hBody:        "body articlebody entry bodytext storybody paragraph paragraphs longform",
	hPost:        "post posts message messages topic thread postbody postcontent bbcode discussion",
	hComment:     "comment comments disqus commentlist respond reply replies answer answers commento",
	hRelated:     "related more similar also readmore crosslinks trending popular latest recent next seealso recirc mostread",
	hRecommend:   "recommended recommend recommendation recommendations outbrain taboola upsell crosssell suggested suggestions featured",
	hShare:       "share sharing social shares sharebar addtoany addthis facebook twitter pinterest socials",
	hFollow:      "follow followers subscribe like likes vote votes voting reactions",
	hPromo:       "promo promotion ad ads advert advertisement sponsor sponsored sponsors cta adsense dfp gpt partner banner marketing affiliate teaser callout",
	hSubscribe:   "newsletter signup subscription mailchimp optin mailing paywall register email klaviyo",
	hCookie:      "cookie cookies consent gdpr onetrust ccpa privacy cookiebot cmp cc",
	hBreadcrumb:  "breadcrumb breadcrumbs crumb crumbs bread",
	hAuthor:      "author authors byline bio writer contributor contributors",
	hMeta:        "meta date time timestamp published metadata info dateline details postmeta updated",
	hTag:         "tag tags category categories keywords topics labels taxonomy badge chip chips pill",
	hForm:        "form forms input field wpforms contact hsform fieldset",
	hModal:       "modal popup overlay lightbox popover tooltip toast modals popups interstitial",
	hSearch:      "search searchbox searchform",
	hFilter:      "filter filters facet facets refine sort sorting refinement swatch variant variants option options select selector quantity",
	hProduct:     "product products pdp item items prod",
	hDescription: "description desc overview specs specification specifications features accordion feature attributes spec detail",
	hReview:      "review reviews rating ratings stars testimonial testimonials ugc yotpo trustpilot",
	hPrice:       "price prices pricing money stock availability sku discount",
	hList:        "list listing listings grid results collection archive catalog feed gallery index",
	hCard:        "card cards tile tiles thumb thumbnail",
	hToc:         "toc tableofcontents outline onthispage jump anchors sitemap",
	hLegal:       "legal disclaimer terms disclosure rights",
	hLogin:       "login signin account auth logout join",
	hSkip:        "skip screen sr visually visuallyhidden screenreader offscreen noprint assistive",
	hCaption:     "caption figcaption credit credits photo image media",
	hWidget:      "widget widgets module plugin embed aux",
	hHero:        "hero jumbotron intro lead lede splash cover",
	hSection:     "section block row container wrapper inner column col",
	hTitle:       "title subtitle name headings subhead",
	hButton:      "button buttons btn btns",
	hTabs:        "tab tabs tabpanel tabbed",
	hPager:       "pager pagination paging prevnext previous prev nextprev pages",
	hAction:      "action actions tools print edit editsection controls control feedback helpful",
	hDialog:      "dialog alert notice notification warning announcement announcements",
	hUser:        "user username avatar profile member userinfo poster usercard postprofile",
	hQuote:       "quote blockquote pullquote",
	hBanner:      "sitebanner hello topbanner",
	hCart:        "cart basket checkout wishlist bag minicart shipping delivery buy addtocart",
	hCode:        "code highlight codehilite snippet",
	hFaq:         "faq faqs questions qa",
	hQuestion:    "question",
	hSummary:     "summary excerpt abstract standfirst dek deck takeaways preview",
	hSlider:      "slider carousel slideshow swiper slick slide slides splide marquee",
	hSignature:   "signature sig",
	hFigure:      "figure img video player audio picture",
	hHidden:      "hidden hide invisible collapsed",
}
