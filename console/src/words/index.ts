import { settings } from '../settings.ts';
import { en, type Words } from './en.ts';
import { he } from './he.ts';

/** The words of the language that the server made the page in. Another language is another page. */
export const words: Words = settings.language === 'he' ? he : en;

/** For `Intl`: days before months and a week that begins on Sunday in both. */
export const locale = settings.language === 'he' ? 'he-IL' : 'en-GB';

export type { Words };
