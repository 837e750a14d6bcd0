import { defineConfig } from 'vite'

// FERRITE_URL is the conductor that `npx vite` shows the sources against.
const conductor = process.env['FERRITE_URL'] ?? 'http://127.0.0.1:6385'

export default defineConfig({
  base: '/ui/',
  esbuild: { jsx: 'automatic' },
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy of the page forbids data: URLs
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(['/v1', '/ferrite', '/apis', '/api'].map((path) => [path, { target: conductor, ws: true }])) },
})
