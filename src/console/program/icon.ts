import type { BuiltFile } from './built-program.ts';

/** File name of the favicon, which is available before the program is built. */
export const ICON = 'icon.svg';

const svg = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
  '<defs><linearGradient id="a" x1="0" y1="0" x2="1" y2="1"><stop stop-color="#2f55d4"/><stop offset="1" stop-color="#7aa2ff"/></linearGradient></defs>',
  '<rect width="32" height="32" rx="7" fill="url(#a)"/>',
  '<path d="M8 10h16M8 16h16M8 22h10" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>',
].join('');

export const icon: BuiltFile = { contentType: 'image/svg+xml', plain: Buffer.from(svg) };
