import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { settings } from './settings.ts';
import './styles/base.css';

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <main>{settings.language}</main>
    </StrictMode>,
  );
