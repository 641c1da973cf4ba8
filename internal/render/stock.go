package render

import (
	"context"
	"encoding/json"
)

// stocking fills the store of a document's origin before its own scripts run. It runs in a world of
// its own, so that no page sees what belongs to others.
const stocking = `(all => {
  try {
    for (const { origin, items } of all)
      if (origin === location.origin)
        for (const [name, value] of items) if (localStorage.getItem(name) === null) localStorage.setItem(name, value)
  } catch {} // a document without a store
})`

// stock has the documents of the page find stored what it says.
func (r *run) stock(ctx context.Context) error {
	if len(r.page.Stores) == 0 {
		return nil
	}
	text, _ := json.Marshal(r.page.Stores) // texts are JSON always
	var added struct {
		Identifier string
	}
	t := r.tab
	err := t.conn.call(ctx, t.session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{
		"source": stocking + "(" + string(text) + ")", "worldName": "weft stores",
	}, &added)
	r.stocks = added.Identifier
	return err
}

// unstock ends that: the tab may render a page without.
func (r *run) unstock() {
	if r.stocks != "" {
		_ = r.tab.conn.post(r.tab.session, "Page.removeScriptToEvaluateOnNewDocument", map[string]string{"identifier": r.stocks})
	}
}
