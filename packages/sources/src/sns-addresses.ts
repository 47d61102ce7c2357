/**
 * The whole text is judged, not what a URL parser makes of it: no port, no user, no query, no other spelling.
 */
const CERTIFICATE =
  /^https:\/\/sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?\/SimpleNotificationService-[A-Za-z0-9]{32}\.pem$/
const SUBSCRIBE =
  /^https:\/\/sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?\/\?Action=ConfirmSubscription&[A-Za-z0-9=&%:._~*-]{1,2048}$/

/** Is it the place of a signing certificate of SNS? */
export function isSnsCertificateUrl(url: string): boolean {
  return CERTIFICATE.test(url)
}

/** Is it a link of SNS that confirms a subscription, and nothing else? */
export function isSnsSubscribeUrl(url: string): boolean {
  return SUBSCRIBE.test(url)
}
