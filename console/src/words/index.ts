import { settings } from '../settings.ts';
import { en, type Words } from './en.ts';
import { he } from './he.ts';

/** The words of the page's language, which the server set. Another language is another page. */
export const words: Words = settings.language === 'he' ? he : en;

/** The locale for `Intl`: both write days before months and begin weeks on Sunday. */
export const locale = settings.language === 'he' ? 'he-IL' : 'en-GB';

export type { Words };
