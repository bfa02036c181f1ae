import { catalogue } from '../../errors/catalogue.ts';
import { limits } from '../../kernel/limits.ts';
import { page, paragraphs } from './page.ts';

const megabytes = limits.fileBytes / 1024 / 1024;

/** SPEC "Errors": 413 of a file. */
export const tooLargePage = page(
  { he: 'הקובץ גדול מדי', en: 'The file is too large' },
  `<div role="alert">${paragraphs({
    he: `אפשר להעלות בבקשה אחת קובץ של עד ${megabytes} מגה־בייט.`,
    en: `${catalogue.fileTooLarge.text()} One request takes up to ${megabytes} MB.`,
  })}</div>`,
);
