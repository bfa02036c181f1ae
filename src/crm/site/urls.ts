/** Addresses allowed in menus: web, mail and phone, paths of the site, anchors of a page. */
const allowed = /^(?:https?:\/\/|mailto:|tel:|\/(?![/\\])|[#?])[^\s\\]*$/i;

export const isMenuUrl = (url: string): boolean => url.length <= 2_000 && allowed.test(url);

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers ignore these before and inside a scheme
const ignored = /[\u0000-\u0020]/g;
const scripts = /^(?:javascript|vbscript):|^data:text\/html/i;

/** Whether a browser would execute the address as a script. */
export const isScriptUrl = (url: string): boolean => scripts.test(url.slice(0, 1_000).replace(ignored, ''));
