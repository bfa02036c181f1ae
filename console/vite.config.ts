import { fileURLToPath } from 'node:url';
import optimizeLocales from '@react-aria/optimize-locales-plugin';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server makes the page (`src/console/`), by the manifest of what is built here. */
export default defineConfig({
  // Chunks find each other wherever the service stands.
  base: './',
  publicDir: false,
  plugins: [react(), { ...optimizeLocales.vite({ locales: ['en-US', 'he-IL'] }), enforce: 'pre' }],
  build: {
    outDir: 'dist',
    assetsDir: '.',
    manifest: 'manifest.json',
    target: 'es2023',
    // Nothing stands in the program's text that the Content-Security-Policy would have to let in.
    assetsInlineLimit: 0,
    rollupOptions: { input: fileURLToPath(new URL('src/main.tsx', import.meta.url)) },
  },
});
