// What a page is taken through, in a world of its own: whatever the page has done to its globals
// does not count here. Nothing here waits for a timer, as the clock of the page stands still.
(() => {
  const done = new WeakSet() // elements of which a click brings no more
  const links = new Set() // to which the page has led so far
  let last, before // the element that was clicked, and the size of the page until then

  // roots are the document and the open shadow roots in it.
  const roots = () => {
    const all = [document]
    for (const root of all)
      for (const e of root.querySelectorAll('*')) if (e.shadowRoot) all.push(e.shadowRoot)
    return all
  }
  const matching = selector => roots().flatMap(root => [...root.querySelectorAll(selector)])
  const size = () => roots().reduce((n, root) => n + root.querySelectorAll('*').length, 0)

  // frames lets the page be drawn: observers and scroll handlers see what is new in the second frame.
  // Frames that are lost do not come: skip ends the wait for them, until the next call.
  let skip = () => {}, skipped = false
  const frame = () => new Promise(then => requestAnimationFrame(then))
  const drawn = async () => { await frame(); await frame() }
  const frames = () => Promise.race([drawn(), new Promise(then => { skip = then; if (skipped) then() })])

  // note keeps the links that are there: a list may drop what is out of view.
  // An element named a may be one of a drawing, whose href is an object, or of a formula without one.
  const hrefOf = a => {
    try {
      return typeof a.href === 'string' ? a.href : new URL(a.getAttribute('href'), a.baseURI).href
    } catch {
      return '' // no URL
    }
  }
  const hrefs = () => matching('a[href]').map(hrefOf).filter(href => href)
  const note = () => { for (const href of hrefs()) if (links.size < 10000) links.add(href) }

  const isSeen = e => e.isConnected && !e.disabled && e.checkVisibility({ visibilityProperty: true })

  // scrollers are the document, and what else scrolls where a mouse in the middle would be.
  const scrollers = () => {
    const all = new Set([document.scrollingElement ?? document.documentElement]), asked = new Set([document])
    for (const root of asked)
      for (const e of root.elementsFromPoint(innerWidth / 2, innerHeight / 2)) {
        if (e.shadowRoot) asked.add(e.shadowRoot)
        if (e.scrollHeight > e.clientHeight + 1 && e.clientHeight > innerHeight / 3 && /auto|scroll/.test(getComputedStyle(e).overflowY)) all.add(e)
      }
    return [...all]
  }
  const scrollBy = part => {
    let moved = false
    for (const e of scrollers()) {
      const from = e.scrollTop
      e.scrollBy({ top: part * Math.min(e.clientHeight, innerHeight), behavior: 'instant' })
      moved ||= e.scrollTop !== from
    }
    return moved
  }

  // press does what a mouse does. Some pages act before the click.
  const press = e => {
    const about = { bubbles: true, cancelable: true, composed: true, view: window }
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup'])
      e.dispatchEvent(new (type[0] === 'p' ? PointerEvent : MouseEvent)(type, about))
    e.click ? e.click() : e.dispatchEvent(new MouseEvent('click', about))
  }

  return {
    size,
    anew() { skipped = false; return this },
    skip() { skipped = true; skip() },
    has: selector => matching(selector).length > 0,
    async draw() { await frames() },
    // scroll scrolls by a screen, or back by one, and reports whether anything has moved.
    async scroll(back) {
      note()
      const moved = scrollBy(back ? -0.9 : 0.9)
      await frames()
      return moved
    },
    async open() {
      for (const e of matching('details:not([open])')) e.open = true
      await frames()
    },
    // click clicks the first element of which more may come. It reports whether there is one.
    async click(selector) {
      last = matching(selector).find(e => !done.has(e) && isSeen(e))
      if (!last) return false
      note()
      before = size()
      last.scrollIntoView({ block: 'center', behavior: 'instant' })
      press(last)
      await frames()
      return true
    },
    // dropped returns links that were there, and are there no more.
    dropped() {
      const left = new Set(hrefs())
      return [...links].filter(href => !left.has(href)).slice(0, 1000)
    },
    // clicked reports whether something came of it. What a click closes, another opens again.
    async clicked() {
      const grew = size() - before
      if (grew <= 0 || last.getAttribute('aria-expanded') === 'true') done.add(last)
      if (grew < 0 && isSeen(last)) {
        press(last)
        await frames()
      }
      return grew > 0
    },
    // pose shows each screen down to a height, so that what is lazy comes, and ends at the top.
    // (An image that is made eager instead keeps Chromium from printing.)
    async pose(height) {
      const top = scrollers()
      const to = y => top.forEach(e => e.scrollTo({ top: y, behavior: 'instant' }))
      const end = Math.min(height, Math.max(...top.map(e => e.scrollHeight)))
      for (let y = 0; y < end; y += innerHeight) {
        to(y)
        await frames()
      }
      to(0)
      await frames()
    },
  }
})()
