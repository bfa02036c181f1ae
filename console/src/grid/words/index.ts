import { settings } from '../../settings.ts';
import { en, type GridWords } from './en.ts';
import { he } from './he.ts';

/** The grid's words in the language of the page. */
export const gridWords: GridWords = settings.language === 'he' ? he : en;

export const isRightToLeft = settings.language === 'he';
