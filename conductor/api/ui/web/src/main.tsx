import { createRoot } from 'react-dom/client'
import { App } from './app'
import './style/base.css'
import './style/parts.css'
import './style/machines.css'
import './style/machine.css'

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
