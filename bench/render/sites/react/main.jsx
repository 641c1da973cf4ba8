import { useEffect, useState } from "react"
import { createRoot } from "react-dom/client"
import { follow, load, numberOf } from "../shared/data.js"
import "../shared/style.css"

function App() {
  const [number, setNumber] = useState(numberOf(location.pathname))
  const [page, setPage] = useState(null)
  useEffect(() => {
    const back = () => setNumber(numberOf(location.pathname))
    addEventListener("popstate", back)
    return () => removeEventListener("popstate", back)
  }, [])
  useEffect(() => {
    let current = true
    load(number).then((p) => {
      if (!current) return
      document.title = p.title
      setPage(p)
    })
    return () => { current = false }
  }, [number])
  if (!page) return <p>Loading…</p>
  return (
    <main>
      <h1>{page.title}</h1>
      {page.paragraphs.map((text) => <p key={text}>{text}</p>)}
      <div className="pictures">{page.pictures.map((src) => <img key={src} src={src} alt="" />)}</div>
      <nav><ul>{page.links.map((l) => <li key={l.path}><a href={l.path} onClick={(e) => follow(e, l.path, setNumber)}>{l.title}</a></li>)}</ul></nav>
    </main>
  )
}

createRoot(document.getElementById("root")).render(<App />)
