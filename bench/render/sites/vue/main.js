import { createApp } from "vue"
import App from "./App.vue"
import "../shared/style.css"

createApp(App).mount("#app")
