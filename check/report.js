"use strict"
// Strings of the Web become text nodes and attributes, never markup: el is the only way here.

const step = 200 // rows that are shown at once
const levels = ["error", "warning", "note"]
const $ = id => document.getElementById(id)

function el(name, attributes, ...children) {
	const e = document.createElement(name)
	for (const [key, value] of Object.entries(attributes || {}))
		if (value != null) e.setAttribute(key, value)
	e.append(...children.flat(Infinity).filter(c => c != null && c !== ""))
	return e
}

// read returns rows as objects. A 0 in the place of a string stands for that of the row before.
function read(id, names, isText) {
	let before = []
	return JSON.parse($(id).textContent).map(row => {
		const object = {}
		names.forEach((name, i) => {
			if (isText.has(name) && row[i] === 0) row[i] = before[i]
			object[name] = row[i]
		})
		before = row
		return object
	})
}

const ruleLevels = JSON.parse($("rule-data").textContent)
const findings = read("finding-data", ["rule", "page", "line", "column", "element", "text", "url", "message", "error", "redirects"],
	new Set(["rule", "page", "element", "text", "url", "message", "error"]))
const pages = read("page-data", ["url", "verdict", "status", "kind", "redirect", "type", "title", "depth", "bytes", "ms", "in", "out", "errors", "warnings", "notes"],
	new Set(["url", "verdict", "kind", "redirect", "type", "title"]))
for (const f of findings) f.level = ruleLevels[f.rule]

const number = n => n.toLocaleString("en")
const count = (n, word) => number(n) + " " + word + (n === 1 ? "" : "s")
const size = n => {
	let i = 0
	for (; n >= 1024 && i < 4; i++) n /= 1024
	return (i > 0 && n < 10 ? n.toFixed(1) : Math.round(n)) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][i]
}
const time = ms => ms < 1000 ? ms + " ms" : (ms / 1000).toFixed(1) + " s"
const short = text => text.length > 180 ? text.slice(0, 120) + "…" + text.slice(-50) : text
const text = string => string && el("bdi", null, short(string))
const badge = word => el("span", {class: "level " + word}, word)
const pageAddress = url => "#page=" + encodeURIComponent(url)

// link leads away, if a link may lead there.
function link(url, full) {
	const label = el("bdi", {dir: "ltr"}, full ? url : short(url))
	return /^(https?|mailto):./i.test(url) ? el("a", {href: url, rel: "noreferrer noopener", target: "_blank"}, label) : label
}
const pageLink = url => el("a", {href: pageAddress(url)}, el("bdi", {dir: "ltr"}, short(url)))
const place = f => f.line ? f.line + ":" + f.column : ""
const hops = f => f.rule === "permanent-redirect" && f.redirects.length < 2 ? [] : (f.redirects || []).map(hop => el("div", {class: "hop"}, hop.status + " → ", link(hop.to)))
const about = f => (f.element || f.text) && el("div", {class: "dim"}, f.element && el("code", null, f.element), " ", f.text && ["“", text(f.text), "”"])

const findingColumns = [
	{name: "level", label: "Level", key: f => levels.indexOf(f.level), cell: f => badge(f.level)},
	{name: "rule", label: "Rule", key: f => f.rule, cell: f => f.rule, dim: true},
	{name: "message", label: "Finding", key: f => f.message, cell: f => [text(f.message), f.error && el("div", {class: "dim"}, text(f.error))]},
	{name: "url", label: "Link", key: f => f.url, cell: f => [f.url && link(f.url), about(f), hops(f)], prefix: ""},
	{name: "page", label: "Page", key: f => f.page, cell: f => pageLink(f.page), prefix: "on"},
	{name: "place", label: "Line", key: f => f.line, cell: place, number: true, prefix: "at"},
]
const pageColumns = [
	{name: "address", label: document.body.dataset.noun === "file" ? "File" : "URL", key: p => p.url, cell: p => [pageLink(p.url), p.title && el("div", {class: "dim"}, text(p.title))]},
	{name: "status", label: "Status", key: p => p.status || (p.kind ? 1000 : 0), cell: p => p.kind || p.status || "", short: true},
	{name: "verdict", label: "Verdict", key: p => p.verdict, cell: p => badge(p.verdict), short: true},
	{name: "type", label: "Type", key: p => p.type, cell: p => p.type, short: true},
	{name: "depth", label: "Depth", key: p => p.depth, cell: p => number(p.depth), number: true, short: true, prefix: "depth"},
	{name: "size", label: "Size", key: p => p.bytes, cell: p => size(p.bytes), number: true, short: true},
	{name: "time", label: "Time", key: p => p.ms, cell: p => time(p.ms), number: true, short: true},
	{name: "in", label: "In", key: p => p.in, cell: p => number(p.in), number: true, short: true, prefix: "links in", title: "links on other pages that lead here"},
	{name: "out", label: "Out", key: p => p.out, cell: p => number(p.out), number: true, short: true, prefix: "out", title: "links on the page"},
	{name: "findings", label: "Findings", key: p => p.errors * 1e9 + p.warnings * 1e4 + p.notes, cell: p => number(p.errors + p.warnings + p.notes), number: true, short: true, prefix: "findings"},
]

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0
const byPlace = (a, b) => compare(a.page, b.page) || a.line - b.line || a.column - b.column

// Table shows rows that match its tools, a step at a time.
class Table {
	constructor(section, columns, rows, noun, searched, choices) {
		Object.assign(this, {columns, rows, noun, searched, choices, sort: null, down: false, group: ""})
		this.search = el("input", {type: "search", placeholder: "Filter by text", "aria-label": "Filter by text"})
		this.search.addEventListener("input", () => {
			clearTimeout(this.timer)
			this.timer = setTimeout(() => this.update(), rows.length > 5000 ? 200 : 0)
		})
		this.sorter = this.select("Sort", [["", "Sorted as found"], ...columns.map(c => [c.name, "Sorted by " + c.label.toLowerCase()])], value => this.by(value))
		this.sorter.classList.add("sorter")
		this.tools = el("div", {class: "tools", role: "search"}, this.search)
		for (const choice of choices)
			this.tools.append(choice.control = this.select(choice.label, choice.options, choice.set ? value => choice.set(this, value) : () => this.update()))
		this.tools.append(this.sorter)
		this.status = el("p", {class: "status", "aria-live": "polite"})
		this.head = columns.map(c => {
			const button = el("button", {type: "button", title: c.title}, c.label)
			button.addEventListener("click", () => this.by(c.name))
			return el("th", {scope: "col", class: "c-" + c.name + (c.number ? " number" : "")}, button)
		})
		this.body = el("tbody")
		this.table = el("table", {class: "list"}, el("thead", null, el("tr", null, this.head)), this.body)
		this.button = el("button", {type: "button", class: "more"})
		this.button.addEventListener("click", () => this.more())
		section.append(this.tools, this.status, this.table, this.button)
	}

	select(label, options, set) {
		const control = el("select", {"aria-label": label}, options.map(([value, name]) => el("option", {value}, name)))
		control.addEventListener("change", () => set(control.value))
		return control
	}

	// by sorts by a column; again, the other way round. Numbers begin with the largest.
	by(name) {
		const column = this.columns.find(c => c.name === name)
		this.down = !column ? false : this.sort === column ? !this.down : !!column.number
		this.sort = column || null
		this.sorter.value = name
		this.update()
	}

	update() {
		const words = this.search.value.toLowerCase().split(/\s+/).filter(w => w)
		const tests = this.choices.filter(c => c.test && c.control.value).map(c => f => c.test(f, c.control.value))
		this.found = this.rows.filter(row => {
			if (!tests.every(test => test(row))) return false
			if (!words.length) return true
			row.words ??= this.searched(row).join("\n").toLowerCase()
			return words.every(w => row.words.includes(w))
		})
		this.order()
		this.columns.forEach((c, i) => {
			if (c === this.sort) this.head[i].setAttribute("aria-sort", this.down ? "descending" : "ascending")
			else this.head[i].removeAttribute("aria-sort")
		})
		this.table.dataset.group = this.group
		this.body.replaceChildren()
		this.table.hidden = !this.found.length
		this.shown = 0
		this.last = null
		this.more()
	}

	// order sorts the rows that were found. The worst group is the first.
	order() {
		const {sort, down, group} = this
		let within = null
		if (sort) {
			const key = new Map(this.found.map(row => [row, sort.key(row)]))
			within = (a, b) => down ? compare(key.get(b), key.get(a)) : compare(key.get(a), key.get(b))
		}
		if (!group) {
			if (within) this.found.sort(within)
			return
		}
		this.groups = new Map()
		for (const row of this.found) {
			const name = row[group] || row.page
			let g = this.groups.get(name)
			if (!g) this.groups.set(name, g = {name, error: 0, warning: 0, note: 0})
			g[row.level]++
			row.group = g
		}
		within ||= byPlace
		this.found.sort((a, b) => a.group === b.group ? within(a, b)
			: b.group.error - a.group.error || b.group.warning - a.group.warning || b.group.note - a.group.note || compare(a.group.name, b.group.name))
	}

	more() {
		const rows = this.found.slice(this.shown, this.shown + step), all = []
		for (const row of rows) {
			if (this.group && row.group !== this.last) {
				this.last = row.group
				all.push(this.groupRow(row.group))
			}
			all.push(el("tr", null, this.columns.map(c =>
				el("td", {class: "c-" + c.name + (c.number ? " number" : "") + (c.short ? " short" : "") + (c.dim ? " dim" : ""), "data-label": c.prefix || null}, c.cell(row)))))
		}
		this.body.append(...all)
		this.shown += rows.length
		const left = this.found.length - this.shown
		this.button.hidden = !left
		this.button.textContent = "Show " + number(Math.min(step, left)) + " more"
		const matching = count(this.found.length, this.noun)
		this.status.textContent = (left ? number(this.shown) + " of " + matching + " shown" : matching)
			+ (this.found.length < this.rows.length ? "; " + number(this.rows.length) + " in all" : "")
	}

	groupRow(g) {
		const counts = levels.filter(l => g[l]).map(l => count(g[l], l)).join(", ")
		return el("tr", {class: "group"}, el("th", {scope: "rowgroup", colspan: this.columns.length - 1},
			this.group === "page" ? pageLink(g.name) : link(g.name), " ", el("span", {class: "count"}, counts)))
	}
}

const ruleChoice = {label: "Rule", options: [["", "All rules"], ...Object.keys(ruleLevels).sort().map(r => [r, r])], test: (f, value) => f.rule === value}
const levelChoice = {label: "Level", options: [["", "All levels"], ...levels.map(l => [l, l[0].toUpperCase() + l.slice(1) + "s"])], test: (f, value) => f.level === value}
const groupChoice = {
	label: "Group", options: [["page", "By page"], ["url", "By target"], ["", "One list"]],
	set: (table, value) => { table.group = value; table.update() },
}
let findingTable = null
if (findings.length) {
	findingTable = new Table($("findings"), findingColumns, findings, "finding",
		f => [f.message, f.rule, f.url, f.page, f.text, f.element], [levelChoice, ruleChoice, groupChoice])
	findingTable.group = groupChoice.control.value = document.body.dataset.order === "target" ? "url" : "page"
	findingTable.update()
}
const kinds = ["ok", "broken", "unknown", "unchecked"].filter(v => pages.some(p => p.verdict === v))
// Files have no depth, and take no time.
const used = pageColumns.filter(c => c.name === "address" || pages.some(c.key))
new Table($("pages"), used, pages, document.body.dataset.noun, p => [p.url, p.title, p.type, p.kind || String(p.status), p.redirect], [
	{label: "Verdict", options: [["", "All verdicts"], ...kinds.map(v => [v, v[0].toUpperCase() + v.slice(1)])], test: (p, value) => p.verdict === value},
	{label: "Findings", options: [["", "All " + document.body.dataset.noun + "s"], ["some", "With findings"]], test: p => p.errors + p.warnings + p.notes > 0},
]).update()

// items lists findings below a heading, a step at a time.
function items(title, rows, head) {
	if (!rows.length) return []
	const list = el("ol", {class: "items"}), button = el("button", {type: "button", class: "more"})
	let shown = 0
	const more = () => {
		const next = rows.slice(shown, shown += step)
		list.append(...next.map(f => el("li", null, badge(f.level), el("div", null,
			el("p", null, text(f.message), el("span", {class: "dim"}, " " + f.rule)),
			f.error && el("p", {class: "dim"}, text(f.error)), head(f), about(f), hops(f)))))
		button.hidden = shown >= rows.length
		button.textContent = "Show " + number(Math.min(step, rows.length - shown)) + " more"
	}
	button.addEventListener("click", more)
	more()
	return [el("h3", null, title, " ", el("span", {class: "count"}, number(rows.length))), list, button]
}

// open shows the section of a page: what is known of it, what was found on it, and what leads to it.
const dialog = $("page")
function open(url) {
	const p = pages.find(p => p.url === url)
	const on = findings.filter(f => f.page === url).sort(byPlace)
	const to = findings.filter(f => f.page !== url && (f.url === url || f.url.startsWith(url + "#")))
	const close = el("button", {type: "button", class: "close", "aria-label": "Close"}, "×")
	close.addEventListener("click", () => dialog.close())
	const facts = p ? [["Status", p.kind ? p.kind + (p.status ? " (" + p.status + ")" : "") : p.status], ["Verdict", badge(p.verdict)], ["Type", p.type], ["Depth", p.status ? number(p.depth) : ""],
		["Size", size(p.bytes)], ["Time", p.ms ? time(p.ms) : ""], ["Links in", number(p.in)], ["Links out", number(p.out)]].filter(([, value]) => value) : []
	dialog.replaceChildren(close,
		el("h2", {id: "page-title"}, el("bdi", null, p && p.title ? short(p.title) : document.body.dataset.noun === "file" ? "File" : "URL")),
		el("div", {class: "address"}, link(url, true)),
		el("dl", {class: "facts"}, facts.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))),
			p && p.redirect && el("div", {class: "wide"}, el("dt", null, "Redirects to"), el("dd", null, link(p.redirect)))),
		...items("Findings on this page", on, f => el("p", null, f.url && link(f.url), " ", f.line ? el("span", {class: "dim"}, "at " + place(f)) : "")),
		...items("Pages that link here", to, f => el("p", null, "on ", pageLink(f.page), " ", f.line ? el("span", {class: "dim"}, "at " + place(f)) : "")),
		!on.length && !to.length ? el("p", {class: "none"}, "No findings.") : "")
	if (!dialog.open) dialog.showModal()
	dialog.scrollTop = 0
}
dialog.addEventListener("close", () => {
	if (location.hash.startsWith("#page=")) history.replaceState(null, "", location.href.split("#")[0])
})
dialog.addEventListener("click", e => { if (e.target === dialog && e.clientX < dialog.getBoundingClientRect().left) dialog.close() })

// go shows what the address asks for: #page=URL, #level=error, #rule=broken-link.
function go() {
	const [, name, value] = /^#(page|level|rule)=(.*)/.exec(location.hash) || []
	let wanted = ""
	try { wanted = decodeURIComponent(value || "") } catch { return }
	if (name === "page") return open(wanted)
	if (dialog.open) dialog.close()
	if (!name || !findingTable) return
	for (const choice of [levelChoice, ruleChoice]) choice.control.value = choice.label.toLowerCase() === name ? wanted : ""
	findingTable.search.value = ""
	findingTable.update()
	findingTable.tools.scrollIntoView()
}
addEventListener("hashchange", go)
document.addEventListener("click", e => {
	const a = e.target.closest("a[href^='#']")
	if (a && a.getAttribute("href") === location.hash) go()
})
go()
