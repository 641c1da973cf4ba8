import { createEffect, createResource, createSignal, For, onCleanup, Show } from "solid-js"
import { render } from "solid-js/web"
import { follow, load, numberOf } from "../shared/data.js"
import "../shared/style.css"

function App() {
  const [number, setNumber] = createSignal(numberOf(location.pathname))
  const [page] = createResource(() => ({ number: number() }), (of) => load(of.number))
  const back = () => setNumber(numberOf(location.pathname))
  addEventListener("popstate", back)
  onCleanup(() => removeEventListener("popstate", back))
  createEffect(() => { if (page()) document.title = page().title })
  return (
    <Show when={page()} fallback={<p>Loading…</p>}>
      <main>
        <h1>{page().title}</h1>
        <For each={page().paragraphs}>{(text) => <p>{text}</p>}</For>
        <div class="pictures"><For each={page().pictures}>{(src) => <img src={src} alt="" />}</For></div>
        <nav><ul><For each={page().links}>{(l) => <li><a href={l.path} onClick={(e) => follow(e, l.path, setNumber)}>{l.title}</a></li>}</For></ul></nav>
      </main>
    </Show>
  )
}

render(() => <App />, document.getElementById("root"))
