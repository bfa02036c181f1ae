import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark' | 'system';

const THEMES: readonly Theme[] = ['light', 'dark', 'system'];
const listeners = new Set<() => void>();

/** Returns the theme of this browser. */
export function theme(): Theme {
  const stored = localStorage.getItem('console.theme');
  return THEMES.find((name) => name === stored) ?? 'system';
}

export function setTheme(name: Theme): void {
  keep('console.theme', name);
  applyTheme();
}

/** Applies the theme to the page, before it is first drawn and when it changes. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
}

export function useTheme(): Theme {
  return useSyncExternalStore(onChange, theme);
}

/** Returns whether keys without Ctrl are shortcuts (WCAG 2.1.4). */
export function hasSingleKeys(): boolean {
  return localStorage.getItem('console.single-keys') !== 'off';
}

export function setSingleKeys(isOn: boolean): void {
  keep('console.single-keys', isOn ? 'on' : 'off');
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(onChange, hasSingleKeys);
}

/** Returns the system last signed in to in this browser. */
export function lastSystem(): string {
  return localStorage.getItem('console.system') ?? '';
}

export function noteSystem(appId: string): void {
  keep('console.system', appId);
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {}
  for (const listener of listeners) listener();
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
