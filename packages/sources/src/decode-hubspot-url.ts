/** `: / ? @ ! $ ' ( ) * , ;` are signed as themselves, all other escapes as they are written. */
const DECODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi

/** The URL as HubSpot signs it. */
export function decodeHubspotUrl(url: string): string {
  return url.replace(DECODED, (escaped) => String.fromCharCode(Number.parseInt(escaped.slice(1), 16)))
}
