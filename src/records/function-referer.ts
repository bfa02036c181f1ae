/** What the Referer of writes by functions begins with (SPEC "`_Timeline` fields"). */
const mark = 'server-side-code';

/** The Referer of what a function writes. */
export const functionReferer = (name: string): string => `${mark}:${name}`;

/** Whether a Referer says that a function wrote, which no client may say. */
export const tellsOfFunction = (referer: string): boolean => referer.startsWith(mark);
