// What logs in: fields are filled in and a form is submitted as a person would, in a world of its
// own (see steps.js).
(() => {
  const roots = () => {
    const all = [document]
    for (const root of all)
      for (const e of root.querySelectorAll('*')) if (e.shadowRoot) all.push(e.shadowRoot)
    return all
  }
  const query = selector => {
    try {
      return roots().flatMap(root => [...root.querySelectorAll(selector)])
    } catch {
      return [] // a name that is no selector
    }
  }
  const isSeen = e => e.isConnected && e.checkVisibility({ visibilityProperty: true })
  const isReady = e => isSeen(e) && !e.disabled && !e.readOnly

  // find returns an element, by its name or by a selector, and the selector that found it.
  const find = field => {
    for (const selector of ['[name=' + JSON.stringify(field) + ']', field]) {
      const e = query(selector).find(isReady)
      if (e) return [e, selector]
    }
    return [null, '']
  }

  const enter = (e, value) => {
    e.focus()
    if (e.type === 'checkbox' || e.type === 'radio') {
      if (e.checked !== ['true', 'on', 'yes', '1'].includes(value)) e.click()
      return
    }
    e.value = value // the native setter: a framework's own is in the world of the page
    e.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, data: value, inputType: 'insertText' }))
    e.dispatchEvent(new Event('change', { bubbles: true }))
    e.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true, composed: true }))
  }

  const passwords = () => query('input[type=password]').filter(isSeen)
  let last // the field that was filled in last

  const press = e => {
    const about = { bubbles: true, cancelable: true, composed: true, view: window }
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup'])
      e.dispatchEvent(new (type[0] === 'p' ? PointerEvent : MouseEvent)(type, about))
    e.click()
  }

  return {
    // fill fills in those fields that are there. It returns the selectors that found them, or ''.
    // Secure: nothing is filled in over http, and nothing returned.
    fill: (fields, secure) => secure && location.protocol === 'http:' ? [] : fields.map(([field, value]) => {
      const [e, selector] = find(field)
      if (!e) return ''
      enter(e, value)
      last = e
      return selector
    }),
    // submit submits the form that has the password, or what was filled in last, or presses a
    // button. It returns 'done', 'wait' if the button cannot be pressed yet, or 'none'.
    submit(selector) {
      if (selector) {
        const all = query(selector)
        const button = all.find(isReady)
        if (!button) return all.length ? 'wait' : 'none'
        press(button)
        return 'done'
      }
      const form = (passwords()[0] ?? last)?.form
      if (!form) return 'none'
      const button = [...form.elements].find(e => (e.type === 'submit' || e.type === 'image') && isSeen(e))
      if (!button) form.requestSubmit()
      else if (button.disabled) return 'wait'
      else press(button)
      return 'done'
    },
    // look says where the page is, whether it asks for a password, and whether it has a sign.
    look: (selector, text) => ({
      url: location.href,
      password: passwords().length > 0,
      found: selector ? query(selector).some(isSeen) : text ? (document.body?.innerText ?? '').includes(text) : false,
    }),
    stored: () => {
      try {
        return { origin: location.origin, items: Object.entries(localStorage) }
      } catch {
        return { origin: '', items: [] }
      }
    },
  }
})()
