/** Addresses that a menu may lead to: of the web, of mail and telephones, paths of the site, places of a page. */
const allowed = /^(?:https?:\/\/|mailto:|tel:|\/(?![/\\])|[#?])[^\s\\]*$/i;

export const isMenuUrl = (url: string): boolean => url.length <= 2_000 && allowed.test(url);

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers pass over these before and inside a scheme
const ignored = /[\u0000-\u0020]/g;
const scripts = /^(?:javascript|vbscript):|^data:text\/html/i;

/** Whether a browser would run the address as a program. */
export const isScriptUrl = (url: string): boolean => scripts.test(url.slice(0, 1_000).replace(ignored, ''));
