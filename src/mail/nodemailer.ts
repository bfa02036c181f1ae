/*
 * What the service uses of nodemailer beside its entrance: parts of the package's own folders, which an upgrade may move. Its version is pinned.
 */

export { default as parseAddresses } from 'nodemailer/lib/addressparser';
export type { NodemailerError } from 'nodemailer/lib/errors.js';
