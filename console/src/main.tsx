// Imported before the pages, whose own styles must come later.
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { noteMissingPart } from './api/client.ts';
import { App } from './app.tsx';
import { applyTheme } from './memory/preferences.ts';
import { settings } from './settings.ts';
import { allowEmptyMarkup } from './trusted-types.ts';

// React Aria reads the nonce of its style elements from here.
Object.assign(globalThis, { __webpack_nonce__: settings.nonce });
// Vite's event: a part of the program, or its styles, could not be loaded.
addEventListener('vite:preloadError', noteMissingPart);
allowEmptyMarkup();
applyTheme();

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
