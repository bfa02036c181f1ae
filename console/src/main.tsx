// Before the pages, whose own styles come after these.
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

// Where React Aria looks for the nonce of its style elements.
Object.assign(globalThis, { __webpack_nonce__: settings.nonce });
// Vite says that a part of the program, or its styles, was not found.
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
