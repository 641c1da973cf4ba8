"use strict"

// The pages of this program share these. Texts of others come into a page by textContent only: its
// policy refuses markup.

const by = id => document.getElementById(id)

// plain shows characters that have no shape or change the order of others, and cuts long texts.
const plain = (text, most = 300) => {
	const all = [...String(text ?? "")]
	const cut = all.slice(0, most).join("") + (all.length > most ? "…" : "")
	return cut.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, c => "\\u{" + c.codePointAt(0).toString(16) + "}")
}

// el makes an element of attributes and children, which are texts or elements.
const el = (name, attributes, ...children) => {
	const e = document.createElement(name)
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (key === "click") e.addEventListener("click", value)
		else e.setAttribute(key, value)
	}
	e.append(...children.filter(c => c !== null && c !== undefined))
	return e
}

const moment = t => new Date(t).toLocaleString("en-GB")
