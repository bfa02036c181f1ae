import { navigate } from 'wouter/use-browser-location';

/** Navigates to another address of the console. */
export function go(path: string, options: { replace?: boolean } = {}): void {
  navigate(path, options);
}
