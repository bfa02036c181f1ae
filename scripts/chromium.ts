/**
 * Locates the browser for the tests of the console: Debian's Chromium, or the one named by CHROMIUM.
 * Usage: node scripts/chromium.ts installs it if it is missing, on Debian and derivatives as root.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Instructions for installing it. */
const HOW =
  'The tests of the console need Chromium: run "apt-get install chromium fonts-noto-core" as root, or set CHROMIUM to its path.';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns the path of the browser. @throws Error with instructions */
export function chromiumPath(): string {
  const found = process.env.CHROMIUM ?? places.find((path) => existsSync(path));
  if (found === undefined || !existsSync(found)) throw new Error(HOW);
  return found;
}

function isThere(): boolean {
  try {
    chromiumPath();
    return true;
  } catch {
    return false;
  }
}

/** Includes fonts with Hebrew, so that text widths are realistic. */
function install(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] };
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-noto-core'], options);
}

if (import.meta.main && !isThere()) {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.error('Installing Chromium for the tests of the console (apt-get) ...');
    install();
  }
  if (!isThere()) console.error(HOW);
}
