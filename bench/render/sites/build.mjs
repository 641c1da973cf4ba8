// Builds the sites of frameworks into the folder that is its argument, one folder each. It runs in
// a copy of this folder in which npm has installed what package.json names.
import { svelte } from "@sveltejs/vite-plugin-svelte"
import react from "@vitejs/plugin-react"
import vue from "@vitejs/plugin-vue"
import { build as astro } from "astro"
import { resolve } from "node:path"
import { build } from "vite"
import solid from "vite-plugin-solid"

const out = resolve(process.argv[2])
for (const [name, plugin] of Object.entries({ react, vue, svelte, solid })) {
  await build({
    root: resolve(name),
    plugins: [plugin({ configFile: false })],
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: resolve(out, name),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      // One script of the framework, one of the site.
      rollupOptions: { output: { manualChunks: (id) => (id.includes("node_modules") ? "framework" : undefined) } },
    },
  })
}
await astro({
  root: resolve("astro"),
  outDir: resolve(out, "astro"),
  configFile: false,
  logLevel: "warn",
  build: { format: "file", inlineStylesheets: "never" },
  vite: { build: { assetsInlineLimit: 0 } },
})
