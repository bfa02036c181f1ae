/** Internal modules of nodemailer that the service uses, in one place, because an upgrade may move them. The version is pinned. */

export { default as parseAddresses } from 'nodemailer/lib/addressparser';
export type { NodemailerError } from 'nodemailer/lib/errors.js';
export { default as SMTPConnection } from 'nodemailer/lib/smtp-connection';
