"use strict"

const problem = text => { by("connection").textContent = text; by("connection").hidden = !text }

// ask sends a request, and returns the data of the answer. What is wrong with it, it throws.
const ask = async (method, path, body) => {
	const response = await fetch(path, { method, ...(body ? { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {}) })
	const data = response.status === 204 ? null : await response.json()
	if (response.status === 401) {
		signed(false)
		show(false)
		by("token").focus()
	}
	if (!response.ok) throw new Error([data.detail, ...(data.errors ?? []).map(e => e.message)].join(": "))
	return data
}

// signed remembers whether somebody has signed in: the cookie is not for scripts.
const signed = is => {
	if (is) localStorage.setItem("signed-in", "yes")
	else localStorage.removeItem("signed-in")
	by("sign-out").hidden = !is
}
by("sign-out").hidden = !localStorage.getItem("signed-in")

const show = inside => {
	by("sign-in").hidden = inside
	by("new").hidden = by("list").hidden = !inside
}

let parts = 1 // of the list that are shown
let confirming = "" // the crawl whose deletion a person has yet to confirm

// order gives an order to a crawl and shows what has become of it.
const order = (method, path, done) => async () => {
	try {
		await ask(method, path)
		by("reply").textContent = done
	} catch (e) {
		by("reply").textContent = e.message
	}
	load()
}

// askFirst asks once more before a crawl and its files are deleted.
const askFirst = id => {
	confirming = id
	setTimeout(() => { if (confirming === id) { confirming = ""; load() } }, 5000)
	load()
}

const waits = w => {
	switch (w.for) {
	case "host": return "waits for another crawl of its host"
	case "token": return "waits: its token may run no more crawls at a time"
	case "crash": return "waits after a crash, until " + moment(w.until)
	}
	return "waits: no more crawls run at a time"
}

const row = c => {
	const path = "/v1/crawls/" + encodeURIComponent(c.id)
	const act = (text, click) => el("button", { type: "button", "aria-label": text + " " + plain(c.url, 80), "data-key": text.split(":")[0] + c.id, click }, text)
	const button = (text, ...of) => act(text, order(...of))
	const orders = el("span", { class: "buttons" })
	if (c.state === "queued" || c.state === "running") orders.append(button("Stop", "POST", path + "/stop", "It stops."))
	else {
		if (c.state !== "done") orders.append(button("Resume", "POST", path + "/resume", "It goes on."))
		if (confirming === c.id) orders.append(button("Delete: are you sure?", "DELETE", path, "It is deleted."))
		else orders.append(act("Delete", () => askFirst(c.id)))
	}
	const name = el("bdi", null, plain(c.url, 200))
	return el("tr", null,
		el("td", { class: "key" + (c.state === "failed" ? " bad" : "") }, c.state),
		el("td", { class: "text" }, el("a", { href: "/crawls/" + encodeURIComponent(c.id) + "/" }, name), c.urls > 1 ? " and " + (c.urls - 1) + " more" : "", c.waits ? el("p", { class: "soft" }, waits(c.waits)) : "", c.message ? el("p", { class: "bad" }, plain(c.message)) : ""),
		el("td", { class: "key" }, moment(c.created)),
		el("td", { class: "key" }, c.schedule ? moment(c.schedule.next) : ""),
		el("td", { class: "key" }, plain(c.by, 40)),
		el("td", null, orders))
}

// load shows the crawls. The newest stand first: those are asked for that way.
const load = async () => {
	try {
		let crawls = [], mistakes = [], next = ""
		for (let i = 0; i < parts; i++) {
			const data = await ask("GET", "/v1/crawls?newest=true&limit=50&after=" + encodeURIComponent(next))
			crawls.push(...data.crawls)
			mistakes.push(...(data.mistakes ?? []))
			next = data.next ?? ""
			if (!next) break
		}
		show(true)
		problem("")
		by("more").hidden = !next
		by("mistakes").replaceChildren(...mistakes.map(m => el("li", { class: "bad" }, plain(m))))
		by("mistakes").hidden = mistakes.length === 0
		const focused = document.activeElement?.dataset.key
		by("rows").replaceChildren(...crawls.map(row))
		if (crawls.length === 0) by("rows").append(el("tr", null, el("td", { colspan: 6, class: "soft" }, "none yet")))
		if (focused) [...by("rows").querySelectorAll("button")].find(b => b.dataset.key === focused)?.focus()
	} catch (e) {
		if (by("sign-in").hidden) problem(e.message)
	}
}

by("token-form").addEventListener("submit", async e => {
	e.preventDefault()
	try {
		await ask("POST", "/session", { token: by("token").value })
		by("token").value = ""
		signed(true)
		problem("")
		await load()
		by("url").focus()
	} catch (e) {
		problem(e.message)
	}
})

by("sign-out").addEventListener("click", async () => {
	await ask("DELETE", "/session")
	signed(false)
	show(false)
})

by("new-form").addEventListener("submit", async e => {
	e.preventDefault()
	const options = {}
	if (by("limit").value) options.limit = Number(by("limit").value)
	if (by("depth").value) options.depth = Number(by("depth").value)
	if (by("markdown").checked) options.bodies = true
	try {
		await ask("POST", "/v1/crawls", { urls: [by("url").value], options })
		by("new-form").reset()
		by("reply").textContent = "It is queued."
	} catch (e) {
		by("reply").textContent = e.message
	}
	load()
})

by("more").addEventListener("click", () => { parts++; load() })

document.addEventListener("visibilitychange", () => { if (!document.hidden) load() })
setInterval(() => { if (!document.hidden && by("sign-in").hidden) load() }, 2000)
load()
