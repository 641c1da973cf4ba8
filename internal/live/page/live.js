"use strict"

const bdi = (text, most) => el("bdi", null, plain(text, most))

const say = (element, text) => { if (element.textContent !== text) element.textContent = text }

const count = n => (n ?? 0).toLocaleString("en")
const rate = n => (n ?? 0).toLocaleString("en", { maximumFractionDigits: n < 10 ? 1 : 0 })
const volume = n => {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"]
	let i = 0
	for (n = n ?? 0; n >= 1000 && i < units.length - 1; i++) n /= 1000
	return (i > 0 && n < 10 ? n.toFixed(1) : Math.round(n)) + " " + units[i]
}
const time = s => {
	if (s < 1) return Math.round(s * 1000) + " ms"
	if (s < 10) return s.toFixed(1) + " s"
	if (s < 120) return Math.round(s) + " s"
	if (s < 7200) return Math.round(s / 60) + " min"
	if (s < 172800) return (s / 3600).toFixed(1) + " h"
	return (s / 86400).toFixed(1) + " days"
}
const clock = t => new Date(t).toLocaleTimeString("en-GB")
const until = t => { const s = (new Date(t) - Date.now()) / 1000; return s > 0 ? time(s) : "" }

// get requests data. What is wrong with it, it throws.
const get = async (path, query = {}) => {
	const given = Object.entries(query).filter(([, value]) => value)
	return reply(await fetch("v1/" + path + (given.length ? "?" + new URLSearchParams(given) : "")))
}
const reply = async response => {
	const data = await response.json()
	if (!response.ok) throw new Error(data.detail)
	return data
}

const fill = (id, rows) => by(id).replaceChildren(...rows)
const row = (...cells) => el("tr", null, ...cells.map(c => c instanceof HTMLTableCellElement ? c : el("td", null, c)))
const num = text => el("td", { class: "n" }, text)
const key = (text, bad) => el("td", { class: "key" + (bad ? " bad" : "") }, plain(text, 60))
const wide = (...children) => el("td", { class: "text" }, ...children)
const note = (columns, text) => el("tr", null, el("td", { colspan: columns, class: "soft" }, text))

// urlButton is a URL that explains itself.
const urlButton = url => el("button", { type: "button", class: "url", title: "Why", click: () => explain(url) }, bdi(url))

// Looks.

let running = null // unknown
const served = location.pathname.startsWith("/crawls/") // by weft serve, which has more of them
by("all").hidden = !served

const words = {
	starting: "starting: it reads the state of its last run", running: "running", paused: "paused",
	ending: "ending: it finishes the fetches that have started", finished: "finished", failed: "failed: no seed was fetched",
	stopped: "stopped by a limit, URLs are left", interrupted: "interrupted, URLs are left", killed: "killed, or ended by an error",
}

const figure = (name, value) => el("div", null, el("dt", null, name), el("dd", null, value))

function show(look) {
	const s = look.status
	by("connection").hidden = !look.problem
	say(by("connection"), plain(look.problem, 500))
	if (!s) return
	const was = running
	running = ["starting", "running", "paused", "ending"].includes(s.state)
	const name = plain(served ? s.first_seed || s.job : s.job, 200)
	say(by("job"), name)
	document.title = `${s.state}: ${name}`
	say(by("state"), words[s.state] + (s.reasons ? ": " + plain(s.reasons.join(", ")) : ""))
	const known = s.done + s.refused + s.pending + s.in_flight
	fill("figures", [
		figure("Done", count(s.done)), figure("Waiting", count(s.pending)), figure("In flight", count(s.in_flight)),
		figure("Pages", count(s.pages)), figure("Failed", count(s.failed)), figure("Refused", count(s.refused)),
		figure("Redirects", count(s.redirects)), figure("Hosts", count(s.hosts)), figure("Received", volume(s.bytes)),
		...(s.memory ? [figure("Memory", volume(s.memory) + " of " + volume(s.max_memory))] : []),
		...(s.visit > 1 ? [figure("Visit", s.visit), figure("Changed", count(s.changed)), figure("New", count(s.new)), figure("Gone", count(s.gone))] : []),
		...(s.rendered || s.not_rendered ? [figure("Rendered", count(s.rendered)), figure("Not rendered", count(s.not_rendered))] : []),
	])
	by("share").value = known ? (s.done + s.refused) / known : 0
	say(by("end"), end(s))
	say(by("urls-rate"), running ? rate(s.urls_per_second) : "")
	say(by("bytes-rate"), running ? volume(s.bytes_per_second) : "")
	say(by("pauses"), running && s.reasons ? "No fetch starts: " + plain(s.reasons.join(", ")) + "." : "")
	fill("waits-rows", waits(s))
	buttons("kinds", s.errors, kind => list({ error: kind }), plain)
	buttons("statuses", s.statuses, status => list({ status }), plain)
	say(by("first-error"), s.first_error ? "First error: " + plain(s.first_error, 500) : "")
	by("steering").disabled = !running
	by("list-tasks").disabled = !running
	by("process-idle").hidden = running
	by("idle").hidden = running
	by("retry").hidden = running || !served
	say(by("idle"), idle(s.state, name))
	if (running) looks.push({ at: look.at, urls_per_second: s.urls_per_second ?? 0, bytes_per_second: s.bytes_per_second ?? 0 })
	draw()
	if (was !== running) refresh()
	if (was && !running) { // what the server has may be of before the end
		setTimeout(() => records().catch(failing), 2500)
		setTimeout(() => speed().catch(failing), 11000)
	}
}

const idle = (state, name) => {
	if (running) return ""
	if (state === "finished") return "The crawl is finished."
	return "The crawl does not run. " + (served ? "Resume it in the list of all crawls." : `weft crawl --job ${name} resumes it.`)
}

const end = s => {
	const began = `Began ${moment(s.begun)}, ${count(s.runs)} ${s.runs === 1 ? "run" : "runs"}, ${time(s.seconds)} of crawling. `
	if (s.ended) return began + `Ended ${moment(s.ended)}.`
	if (s.growing) return began + `No end is in sight: a URL leads to ${rate(s.new_per_url)} new ones.`
	if (s.state !== "running" || !s.seconds_left) return began
	const bound = s.left_bound ? `, for ${plain(s.left_bound)}` : ""
	return began + `About ${time(s.seconds_left)} left${bound}: ends about ${moment(Date.now() + s.seconds_left * 1000)}.`
}

const reasons = {
	"turn": "their turn: nothing holds them", "requests": "requests in flight, as many as their pace allows", "pace": "their delay",
	"domain": "a turn at their registrable domain", "address": "a turn at their address", "back-off": "back-off: overloaded, or Retry-After",
	"silence": "servers that do not respond", "robots.txt": "robots.txt", "dns": "their address to be looked up",
	"depth": "nearer URLs, which --depth takes first", "memory": "memory", "limit": "nothing: they have had --limit-per-host",
}

const waits = s => {
	if (!running) return [note(5, "The crawl does not run.")]
	if (!s.waits) return [note(5, "No host has URLs that wait.")]
	return s.waits.map(w => row(reasons[w.for] ?? plain(w.for), num(count(w.hosts)), num(count(w.pending)), w.until ? until(w.until) : "", bdi(w.example)))
}

// buttons keeps a button for each key of an object, most first: one that has the focus stays.
function buttons(id, counts, click) {
	const all = Object.entries(counts ?? {}).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 100)
	const old = new Map([...by(id).children].map(b => [b.dataset.key, b]))
	if (all.length === 0) return by(id).replaceChildren("none")
	const now = all.map(([key, n]) => {
		const b = old.get(key) ?? el("button", { type: "button", "data-key": key, click: () => click(key) })
		say(b, `${plain(key, 60)}: ${count(n)}`)
		return b
	})
	if (now.length !== by(id).childNodes.length || now.some((b, i) => by(id).childNodes[i] !== b)) by(id).replaceChildren(...now)
}

// The speed over time: of the records so far, then of each look.

let history = []
let looks = []

const svg = (name, attributes) => {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name)
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
	return e
}

function draw() {
	const since = history.length ? new Date(history.at(-1).at) : 0
	looks = looks.filter(p => new Date(p.at) > since).slice(-600)
	const points = [...history, ...looks].map(p => ({ t: +new Date(p.at), ...p }))
	chart("urls-chart", points, "urls_per_second", "URLs a second", rate)
	chart("bytes-chart", points, "bytes_per_second", "bytes a second", volume)
}

function chart(id, points, field, what, words) {
	const picture = by(id)
	const [from, to] = [points[0]?.t ?? 0, points.at(-1)?.t ?? 0]
	const most = Math.max(...points.map(p => p[field]), 0)
	picture.setAttribute("aria-label", `${what} over time, ${words(most)} at most`)
	const [left, right] = picture.nextElementSibling.children
	say(left, points.length ? `${moment(from)}, at most ${words(most)}` : "no records yet")
	say(right, points.length > 1 ? moment(to) : "")
	if (points.length < 2) return picture.replaceChildren()
	const x = p => (600 * (p.t - from) / (to - from || 1)).toFixed(1)
	const y = p => (116 - 108 * p[field] / (most || 1)).toFixed(1)
	const line = points.map(p => `${x(p)} ${y(p)}`).join("L")
	picture.replaceChildren(svg("path", { class: "area", d: `M0 120L${line}L600 120Z` }), svg("path", { class: "line", d: "M" + line }))
}

const speed = async () => {
	history = (await get("speed")).rates ?? []
	draw()
}

// Records.

const outcome = r => r.error_kind || String(r.status ?? r.state ?? "")
const isBad = r => Boolean(r.error_kind) || r.status >= 400

const recordRow = r => row(
	el("td", { class: "key soft" }, clock(r.started)), key(outcome(r), isBad(r)), num(time((r.total_ms ?? 0) / 1000)), num(volume(r.bytes)),
	wide(urlButton(r.url), r.title ? el("div", { class: "soft" }, bdi(r.title, 120)) : null),
)

const failingRow = f => row(wide(bdi(f.host)), num(count(f.errors)), num(count(f.of)), key(f.kind, true), wide(urlButton(f.example)))

const records = async () => {
	const { latest, slowest, failing } = await get("records")
	const none = [note(5, "There are no records yet.")]
	fill("latest-rows", latest?.length ? latest.slice(0, 12).map(recordRow) : none)
	fill("slowest-rows", slowest?.length ? slowest.map(recordRow) : none)
	fill("failing-rows", failing?.length ? failing.map(failingRow) : [note(5, "None.")])
}

// Lists, part by part. Only one part is in the page.

class Pager {
	constructor(id, columns, values, show) {
		Object.assign(this, { id, columns, values, show, query: {}, cursors: [""] })
		this.back = el("button", { type: "button", click: () => this.go(-1) }, "Back")
		this.next = el("button", { type: "button", click: () => this.go(1) }, "Next")
		this.where = el("span", { role: "status" })
		by(id + "-pager").replaceChildren(this.back, this.next, this.where)
	}
	list(query) {
		this.query = query
		this.cursors = [""]
		return this.load()
	}
	go(step) {
		if (step > 0) this.cursors.push(this.following)
		else this.cursors.pop()
		return this.load()
	}
	async load() {
		const turn = this.turn = Symbol()
		say(this.where, "reading…")
		try {
			const got = await get(this.id, { ...this.query, limit: 50, after: this.cursors.at(-1) })
			if (turn !== this.turn) return
			const values = got[this.values]
			this.following = got.next
			const none = got.next ? "None so far: Next looks further." : "None."
			fill(this.id + "-rows", values.length ? values.map(this.show) : [note(this.columns, none)])
			say(this.where, `part ${count(this.cursors.length)}, read ${clock(Date.now())}`)
		} catch (e) {
			if (turn === this.turn) say(this.where, plain(e.message, 500))
		}
		this.back.disabled = this.cursors.length === 1
		this.next.disabled = !this.following
	}
}

const hosts = new Pager("hosts", 10, "hosts", h => row(
	wide(bdi(h.host)), num(count(h.done)), num(count(h.errors ?? 0)), num(count(h.pending)), num(count(h.in_flight)), num(h.took_ms ? time(h.took_ms / 1000) : "–"),
	num(h.pace ? count(h.pace) : "any"), num(h.delay_ms ? time(h.delay_ms / 1000) : "–"), key(h.robots),
	wide(bdi(h.waits ?? "", 200), h.waits_until && until(h.waits_until) ? ", " + until(h.waits_until) : "", ...(h.traps ?? []).map(t => el("div", { class: "soft" }, "trap: ", bdi(t)))),
))

const urls = new Pager("urls", 4, "urls", u => row(
	key(outcome(u.state === "pending" || u.state === "leased" ? { status: u.state } : u), isBad(u)),
	wide(urlButton(u.url), u.error ? el("div", { class: "soft" }, bdi(u.error, 200)) : null),
	wide(u.from ? urlButton(u.from) : null), num(count(u.tries)),
))

const filter = by("filter")
const list = ({ state = "", status = "", error = "" }) => {
	Object.entries({ state, status, error }).forEach(([name, value]) => { filter.elements[name].value = value })
	Object.entries({ status, error }).forEach(([name, value]) => { by("retry").elements[name].value = value })
	go("urls")
	return urls.list({ state, status, error })
}
filter.addEventListener("submit", event => {
	event.preventDefault()
	urls.list(Object.fromEntries(new FormData(filter)))
})

const go = id => { by(id).scrollIntoView(); by(id).focus({ preventScroll: true }) }

// Why.

async function explain(url) {
	by("ask").elements.url.value = url
	go("why")
	const answer = by("reasons")
	say(answer, "reading…")
	try {
		const why = await get("why", { url })
		const pages = why.referrers?.pages ?? []
		answer.replaceChildren(
			el("p", null, bdi(why.url, 1000), ": ", el("strong", null, why.state)),
			el("ol", null, ...why.steps.map(s => el("li", null, s.at ? el("span", { class: "soft" }, moment(s.at) + " ") : "", plain(s.what) + ": ", bdi(s.text, 500)))),
			pages.length ? el("div", null, el("h3", null, `Linked from ${count(why.referrers.total)}`), el("ul", null, ...pages.slice(0, 50).map(p => el("li", null, urlButton(p.url), p.by ? " by " + plain(p.by) : "")))) : "",
		)
	} catch (e) {
		say(answer, plain(e.message, 500))
	}
}
by("ask").addEventListener("submit", event => {
	event.preventDefault()
	explain(by("ask").elements.url.value.trim())
})

// Orders.

async function order(...given) {
	try {
		const { lines } = await reply(await fetch("v1/orders", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ words: given }) }))
		say(by("reply"), (lines ?? []).map(l => plain(l, 500)).join("\n"))
	} catch (e) {
		say(by("reply"), plain(e.message, 500))
	}
}
by("pause").addEventListener("click", () => order("pause"))
by("resume").addEventListener("click", () => order("resume"))
by("stop").addEventListener("click", () => {
	const b = by("stop")
	if (b.dataset.sure) {
		order("stop")
		return unsure()
	}
	b.dataset.sure = "yes"
	say(b, "Stop: are you sure?")
	setTimeout(unsure, 5000)
})
const unsure = () => { delete by("stop").dataset.sure; say(by("stop"), "Stop") }

for (const form of document.querySelectorAll("form[data-order]")) {
	form.addEventListener("submit", event => {
		event.preventDefault()
		const given = Object.fromEntries(new FormData(form))
		const value = given.value.trim()
		order(form.dataset.order, form.dataset.order === "set" ? `${given.name}=${value}` : value)
	})
}

// Process.

const machine = async () => {
	const f = await get("figures")
	const disk = Object.entries(f.disk?.parts ?? {})
	const commits = (f.commits?.took?.counts ?? []).reduce((a, b) => a + b, 0)
	const figures = {
		"CPU time": time(f.process.cpu), "Resident": volume(f.process.resident), "Descriptors": `${count(f.process.open)} of ${count(f.process.max_open)}`,
		...(commits ? { "A commit takes": time(f.commits.took.sum / commits) } : {}),
		...Object.fromEntries(disk.map(([part, bytes]) => ["Disk: " + plain(part), volume(bytes)])),
		...(f.disk ? { "Disk left": volume(f.disk.free) } : {}),
		...(f.browser ? { "Browser tabs": `${count(f.browser.busy)} of ${count(f.browser.tabs)}`, "Browser memory": `${volume(f.browser.memory)} of ${volume(f.browser.max_memory)}`, "Browser starts": count(f.browser.starts) } : {}),
		...(f.node ? { "Undelivered": `${count(f.node.outbox)}, ${volume(f.node.bytes)}`, "Behind by": time(f.node.lag) } : {}),
	}
	by("cluster").hidden = !f.node
	if (f.node) nodes().catch(e => say(by("partitions"), plain(e.message, 500)))
	fill("process-figures", Object.entries(figures).map(([name, value]) => figure(name, value)))
	fill("shares-rows", (f.shares ?? []).map(s => row(plain(s.of), num(volume(s.used)), num(s.most ? volume(s.most) : "–"))))
	fill("loops-rows", (f.loops ?? []).map(l => row(key(l.name), num(time(l.lag)), num(time(l.answer)), num(count(l.turns)), num(count(l.tasks)), num(count(l.open)))))
}

const nodes = async () => {
	const c = await get("cluster")
	const there = c.total.partitions ? `${count(c.total.started)} of ${count(c.partitions)} partitions are fetched from` : `${count(c.partitions)} partitions`
	say(by("partitions"), there + (c.unowned ? `; ${count(c.unowned)} have no node.` : "."))
	by("partitions").className = c.unowned ? "bad" : ""
	fill("nodes-rows", (c.nodes ?? []).map(n => row(
		wide(bdi(n.name)), el("td", { class: n.state === "alive" ? "key" : "key bad" }, plain(n.state, 60), ...(n.paused ?? []).map(p => el("div", { class: "soft" }, plain(p)))),
		num(n.started === n.partitions ? count(n.partitions) : `${count(n.started)} of ${count(n.partitions)}`), num(rate(n.urls_per_second)), num(count(n.done)), num(count(n.pending)), num(count(n.in_flight)), num(count(n.outbox)),
	)))
}

// The machine is looked at while somebody sees its part of the page.
let machineSeen = false
new IntersectionObserver(all => {
	machineSeen = all.at(-1).isIntersecting
	if (machineSeen && running) machine().catch(failing)
}).observe(by("process"))

by("retry").addEventListener("submit", async event => {
	event.preventDefault()
	const given = Object.fromEntries([...new FormData(by("retry"))].map(([name, value]) => [name, value.trim()]))
	try {
		const path = location.pathname.replace("/crawls/", "/v1/crawls/").replace(/\/$/, "") + "/retry"
		await reply(await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) }))
		say(by("reply"), "The crawl runs again when it is its turn.")
	} catch (e) {
		say(by("reply"), plain(e.message, 500))
	}
})

by("list-tasks").addEventListener("click", async () => {
	try {
		const { tasks } = await get("tasks")
		fill("tasks-rows", (tasks ?? []).map(t => row(key(t.loop), bdi(t.task), key(t.state), num(time(Math.max(0, (Date.now() - new Date(t.since)) / 1000))), bdi(t.waits ?? ""))))
	} catch (e) {
		fill("tasks-rows", [note(5, plain(e.message, 500))])
	}
})

// Now and then. A page that nobody sees asks for nothing.

let source = null
const failing = e => { by("connection").hidden = false; say(by("connection"), plain(e.message, 500)) }

function refresh() {
	records().catch(failing)
	speed().catch(failing)
	hosts.load()
}

function connect() {
	source?.close()
	source = null
	if (document.hidden) return
	source = new EventSource("v1/looks")
	source.onmessage = event => show(JSON.parse(event.data))
	source.onerror = () => failing(new Error(served ? "weft serve does not respond, or you are signed out: the figures are old" : "weft web does not respond: the figures are old"))
}
document.addEventListener("visibilitychange", connect)
addEventListener("pagehide", () => source?.close())

const every = (seconds, run) => setInterval(() => { if (running && !document.hidden) run() }, seconds * 1000)
const focused = id => by(id).contains(document.activeElement)
every(3, () => { if (!focused("pages") && !focused("errors")) records().catch(failing) })
every(3, () => { if (machineSeen) machine().catch(failing) })
every(60, () => speed().catch(failing))
every(15, () => { if (hosts.cursors.length === 1 && !focused("hosts")) hosts.load() })

connect()
